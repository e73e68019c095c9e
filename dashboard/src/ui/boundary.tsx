import { Component, type ReactNode } from 'react';
import { Button } from './button.tsx';
import { Page } from './page.tsx';
import { ErrorNote } from './states.tsx';

interface Props {
  /** Another place than the one where it failed: what failed there is of no account. */
  readonly place: string;
  readonly children: ReactNode;
}

/** Shows in place of a page that has failed what has become of it, and the way on: the menu around it stays. */
export class Boundary extends Component<Props, { readonly error: unknown; readonly place: string }> {
  override state = { error: undefined, place: this.props.place };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static getDerivedStateFromProps({ place }: Props, state: { place: string }) {
    return place === state.place ? null : { error: undefined, place };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Page title="This page could not be shown">
        <ErrorNote error={error} retry={() => this.setState({ error: undefined })} />
        <p>
          Your work is safe: what you have typed is kept in this browser. If trying again does not help,{' '}
          reload the page.
        </p>
        <div className="actions">
          <Button onClick={() => window.location.reload()}>Reload</Button>
        </div>
      </Page>
    );
  }
}
