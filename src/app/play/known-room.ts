import type { RoomsEvent } from '../../workers/views.ts';

/** What one receptacle is known to be like; null = never seen. */
export interface KnownReceptacle {
  readonly name: string;
  /** `surface` has no door. */
  readonly door: 'open' | 'shut' | 'surface' | null;
  /** As last seen, with what was taken and put since. */
  readonly objects: readonly string[] | null;
}

/** What an attentive reader of the transcript knows of the room. */
export interface KnownRoom {
  readonly receptacles: readonly KnownReceptacle[];
  /** Null in the middle of the room. */
  readonly at: string | null;
  readonly hand: string | null;
}

/** Everything that the events of an episode have told, from its start to now. */
export function knownRoom(events: readonly RoomsEvent[]): KnownRoom {
  const receptacles = new Map<string, KnownReceptacle>();
  let at: string | null = null;
  let hand: string | null = null;
  const know = (name: string, change: Partial<KnownReceptacle>) => {
    receptacles.set(name, { ...(receptacles.get(name) ?? { name, door: null, objects: null }), ...change });
  };
  for (const event of events) {
    switch (event.kind) {
      case 'start':
        for (const name of event.receptacles) know(name, {});
        break;
      case 'arrive':
      case 'view':
      case 'open': {
        at = event.receptacle;
        const { view } = event;
        // A shut door hides what may have been seen before; what was seen is still remembered.
        if (view.status === 'closed') know(event.receptacle, { door: 'shut' });
        else know(event.receptacle, { door: view.status, objects: view.objects });
        break;
      }
      case 'close':
        know(event.receptacle, { door: 'shut' });
        break;
      case 'take':
        hand = event.object;
        know(event.receptacle, {
          objects: (receptacles.get(event.receptacle)?.objects ?? []).filter((o) => o !== event.object),
        });
        break;
      case 'put':
        hand = null;
        know(event.receptacle, {
          objects: [...(receptacles.get(event.receptacle)?.objects ?? []), event.object].sort(),
        });
        break;
      case 'inventory':
        hand = event.holding;
        break;
      default:
        break;
    }
  }
  return { receptacles: [...receptacles.values()], at, hand };
}
