import { useLayoutEffect, useRef, useState } from 'react';

/** The inner width of an element in CSS pixels, followed as it changes. Starts at `initial` until it is measured. */
export function useWidth<T extends HTMLElement>(initial: number): [React.RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    // An element that is not laid out yet has no width: what was there stays.
    const take = (width: number) => {
      if (width > 0) setWidth(Math.floor(width));
    };
    const observer = new ResizeObserver(([entry]) => {
      take(entry?.contentRect.width ?? 0);
    });
    take(observed.clientWidth);
    observer.observe(observed);
    return () => {
      observer.disconnect();
    };
  }, []);
  return [element, width];
}
