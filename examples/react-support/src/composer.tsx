import { useId, useState, type FormEvent, type KeyboardEvent, type ReactElement, type Ref } from "react";

interface Properties {
  label: string;
  onSend: (content: string) => void;
  /** Why nothing can be sent now. */
  blocked?: string | undefined;
  /** There while the agent is at work. */
  onStop?: (() => void) | undefined;
  field?: Ref<HTMLTextAreaElement>;
}

/** Where a person writes: Enter sends, Shift+Enter begins a new line. */
export function Composer({ label, onSend, blocked, onStop, field }: Properties): ReactElement {
  const [text, setText] = useState("");
  const id = useId();

  function send(): void {
    if (text.trim() === "" || blocked !== undefined || onStop) return;
    onSend(text.trim());
    setText("");
  }

  function onSubmit(event: FormEvent): void {
    event.preventDefault();
    send();
  }

  function onKeyDown(event: KeyboardEvent): void {
    // While an input method composes a word, Enter belongs to it.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form className="composer" onSubmit={onSubmit}>
      <label htmlFor={id} className="hidden">
        {label}
      </label>
      <textarea
        id={id}
        ref={field}
        rows={1}
        value={text}
        placeholder={blocked ?? "Write a message"}
        aria-describedby={blocked === undefined ? undefined : `${id}-blocked`}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {blocked !== undefined && (
        <span id={`${id}-blocked`} className="hidden">
          {blocked}
        </span>
      )}
      {onStop ? (
        <button type="button" className="stop" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" disabled={text.trim() === "" || blocked !== undefined}>
          Send
        </button>
      )}
    </form>
  );
}
