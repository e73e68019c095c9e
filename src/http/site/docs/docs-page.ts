/** A page of the documentation, made of a Markdown file or of the API document. */
export interface DocsPage {
  /** Below the root of the sources. */
  readonly file: string;
  /** Where the page is below `BASE`; empty for the first page. */
  readonly slug: string;
  readonly title: string;
  /** Its first paragraph that is a whole one, as plain text; empty if it has none. */
  readonly description: string;
  /** Markdown without the title, whose links lead to pages of the documentation, and whose headings begin at the second rank. */
  readonly body: string;
}
export interface DocsGroup {
  readonly label: string;
  /** The group below which it is shown. */
  readonly within?: string;
  readonly collapsed: boolean;
  /** Users and operators do not look for these pages: they have a search of their own. */
  readonly forContributors?: boolean;
  readonly pages: readonly DocsPage[];
}
