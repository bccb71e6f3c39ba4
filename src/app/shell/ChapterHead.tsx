import type { ReactNode } from 'react';

/** The title of one part of the story, with its number. */
export function ChapterHead(props: {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly note?: string;
  readonly children?: ReactNode;
}) {
  return (
    <div className="chapter-head">
      <h2 id={props.id}>
        <span className="chapter-number">{props.number}</span>
        {props.title}
      </h2>
      {props.note !== undefined && <span className="chapter-note small">{props.note}</span>}
      {props.children}
    </div>
  );
}
