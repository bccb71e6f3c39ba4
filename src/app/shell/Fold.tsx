import type { ReactNode } from 'react';
import type { FoldName } from '../state/fields.ts';
import { useFold } from '../state/unfolded.ts';

interface FoldProps {
  readonly name: FoldName;
  readonly summary: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A part of the page that is there once it is unfolded. */
export function Fold({ name, summary, className, children }: FoldProps) {
  const [isOpen, open] = useFold(name);
  return (
    <details
      className={className}
      open={isOpen}
      onToggle={(event) => {
        open(event.currentTarget.open);
      }}
    >
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}
