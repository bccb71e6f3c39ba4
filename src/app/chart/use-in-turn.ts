import { useEffect, useRef, useState } from 'react';

/** What waits to be drawn, in the order of asking; who asks again keeps the place, so that nobody waits for ever. */
const waiting = new Map<object, () => void>();
let frame = 0;

function drawNext(): void {
  const [first] = waiting;
  if (first) {
    waiting.delete(first[0]);
    first[1]();
  }
  frame = waiting.size > 0 ? requestAnimationFrame(drawNext) : 0;
}

/**
 * A value, handed on when it is this component's turn; null before the first. Components that take long to draw and change together are
 * drawn one a frame: six charts of recharts in one task held the page for 0.1 s.
 */
export function useInTurn<T extends object>(value: T): T | null {
  const [drawn, draw] = useState<T | null>(null);
  const place = useRef({});
  useEffect(() => {
    waiting.set(place.current, () => {
      draw(value);
    });
    if (frame === 0) frame = requestAnimationFrame(drawNext);
  }, [value]);
  useEffect(() => {
    const mine = place.current;
    return () => {
      waiting.delete(mine);
    };
  }, []);
  return drawn;
}
