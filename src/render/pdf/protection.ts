/** The values of permissions that are not just given or denied. */
export const PERMISSIONS = { print: ['none', 'low', 'high'] } as const;

/** The passwords of a PDF, and what readers let those do who have not opened it by the owner's. */
export interface Protection {
  /** In UTF-8 at most 127 bytes, as the owner's. */
  readonly userPassword?: string | undefined;
  readonly ownerPassword?: string | undefined;
  /** What is not given is allowed. */
  readonly permissions?:
    | {
        readonly print?: (typeof PERMISSIONS.print)[number] | undefined;
        readonly copy?: boolean | undefined;
        readonly modify?: boolean | undefined;
        readonly annotate?: boolean | undefined;
        readonly fillForms?: boolean | undefined;
        readonly assemble?: boolean | undefined;
        readonly accessibility?: boolean | undefined;
      }
    | undefined;
}
