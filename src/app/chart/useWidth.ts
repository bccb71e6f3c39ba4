import { useLayoutEffect, useRef, useState } from 'react';

/** The inner width of an element in CSS pixels, followed as it changes. Starts at `initial` until it is measured. */
export function useWidth<T extends HTMLElement>(initial: number): [React.RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(initial);
  useLayoutEffect(() => {
    const observed = element.current;
    if (!observed) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.floor(entry.contentRect.width));
    });
    setWidth(Math.floor(observed.clientWidth));
    observer.observe(observed);
    return () => {
      observer.disconnect();
    };
  }, []);
  return [element, width];
}
