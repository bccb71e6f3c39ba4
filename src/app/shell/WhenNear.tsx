import { Suspense, useEffect, useRef, useState, type ReactNode } from 'react';

/**
 * Leaves out what is far below the screen: its code is loaded and its picture made when somebody scrolls near it, or at
 * once where `now` says that it is wanted.
 */
export function WhenNear({
  height,
  now = false,
  margin = '300px',
  children,
}: {
  /** Room kept free until then, so that the page does not jump. */
  readonly height: string;
  readonly now?: boolean;
  /** How near is near. */
  readonly margin?: string;
  readonly children: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  const isShown = isNear || now;
  useEffect(() => {
    if (isShown || !place.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: margin },
    );
    observer.observe(place.current);
    return () => {
      observer.disconnect();
    };
  }, [isShown, margin]);
  const room = <div ref={place} style={{ minHeight: height }} />;
  return isShown ? <Suspense fallback={room}>{children}</Suspense> : room;
}
