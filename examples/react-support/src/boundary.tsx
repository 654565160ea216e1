import { Component, type ReactNode } from "react";

interface Properties {
  children: ReactNode;
}

/** Keeps a part of the page that can't be shown from taking the rest along: React removes all of it otherwise. */
export class Boundary extends Component<Properties, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <p role="alert" className="fault">
        This conversation can’t be shown.{" "}
        <button type="button" className="link" onClick={() => this.setState({ hasFailed: false })}>
          Try again
        </button>
      </p>
    );
  }
}
