import type { Expert, Observation } from '../environment.ts';
import type { Property, RoomsEvent, View } from './events.ts';
import type { RoomDescription } from './room.ts';
import { compareCanonically, objectTypes, receptacleTypes, typeOfName, type ReceptacleType } from './types.ts';

/** Where lamps stand, in the order in which the expert looks for one. */
export const LAMP_PLACES: readonly string[] = ['desk', 'dresser', 'sidetable', 'shelf'];

const treatments = {
  clean: { role: 'washer', property: 'clean' },
  heat: { role: 'heater', property: 'hot' },
  cool: { role: 'cooler', property: 'cool' },
} as const;

/**
 * Solves a task from observations alone. It searches receptacles in a fixed order (types by how often demonstrations
 * found the object there, then name and number), opens shut ones, takes the first fitting object, treats it, delivers it.
 * Because the order is fixed, its next move follows from the last few observations, and a policy with a short history can
 * imitate it. It never closes a door, and examines only a receptacle whose place it reached through a neighbour.
 * It copes with commands that others slip in between: it goes by what it has seen, not by a script.
 */
export class SearchingExpert implements Expert {
  private receptacles: readonly string[] = [];
  /** Where to look for the object, and for the lamp, in order. */
  private searchOrder: readonly string[] = [];
  private lampOrder: readonly string[] = [];

  /** Receptacles that can be used from here. */
  private here = new Set<string>();
  private hand: string | null = null;
  /** Last seen state of each receptacle; absent: not seen yet. */
  private readonly seen = new Map<string, 'closed' | 'accessible'>();
  /** Receptacles whose contents have been seen. */
  private readonly searched = new Set<string>();
  /** Where each object was seen last. */
  private readonly whereabouts = new Map<string, string>();
  private readonly properties = new Map<string, Set<Property>>();

  constructor(private readonly goal: RoomDescription['goal']) {}

  observe(command: string | null, observation: Observation): void {
    this.take(command, observation.event as RoomsEvent);
  }

  /** `observe` for callers that have the event alone. */
  take(command: string | null, event: RoomsEvent): void {
    switch (event.kind) {
      case 'start':
        this.begin(event.receptacles);
        break;
      case 'arrive':
        this.here = new Set([event.receptacle]);
        this.see(event.receptacle, event.view);
        break;
      case 'view':
      case 'open':
        this.here.add(event.receptacle);
        this.see(event.receptacle, event.view);
        break;
      case 'close':
        this.seen.set(event.receptacle, 'closed');
        break;
      case 'take':
        this.hand = event.object;
        this.whereabouts.delete(event.object);
        break;
      case 'put':
        this.hand = null;
        this.whereabouts.set(event.object, event.receptacle);
        break;
      case 'heat':
        this.setProperty(event.object, 'hot', 'cool');
        break;
      case 'cool':
        this.setProperty(event.object, 'cool', 'hot');
        break;
      case 'clean':
        this.setProperty(event.object, 'clean', null);
        break;
      case 'inventory':
        this.hand = event.holding;
        break;
      case 'none':
        // A walk to a listed receptacle fails only when it is at the same place.
        if (command?.startsWith('go to ') && this.receptacles.includes(command.slice(6))) {
          this.here.add(command.slice(6));
        }
        break;
      case 'inspect':
        if (!event.vessel) this.properties.set(event.object, new Set(event.properties));
        break;
      case 'look':
        for (const receptacle of event.facing ?? []) this.here.add(receptacle);
        break;
      case 'use':
      case 'help':
        break;
    }
  }

  next(): string {
    const { hand, goal } = this;
    if (hand === null) return this.fetch();
    if (typeOfName(hand) !== goal.object) return this.putAway(hand);
    if (goal.task === 'look') return this.light();
    if (goal.task !== 'pick' && goal.task !== 'two') {
      const { role, property } = treatments[goal.task];
      if (this.properties.get(hand)?.has(property) !== true) {
        return this.at(
          this.receptacles.find((name) => typeOf(name).role === role),
          (appliance) => `${goal.task} ${hand} with ${appliance}`,
        );
      }
    }
    return this.at(this.chosenTarget(), (target) => this.inside(target, `move ${hand} to ${target}`));
  }

  private begin(receptacles: readonly string[]): void {
    const { task, object, target } = this.goal;
    const type = objectTypes.get(object)!;
    this.receptacles = receptacles;
    this.here = new Set();
    this.hand = null;
    this.seen.clear();
    this.searched.clear();
    this.whereabouts.clear();
    this.properties.clear();
    const count = (name: string) => type.sources.get(typeOfName(name)) ?? 0;
    this.searchOrder = receptacles
      // Objects of the task never start where they have to end, nor in the appliance.
      .filter((name) => (task === 'pick' || task === 'two' ? typeOfName(name) !== target : true))
      .filter((name) => !(task in treatments) || typeOf(name).role !== treatments[task as 'heat'].role)
      .filter((name) => count(name) > 0 || typeOf(name).accepts.has(object))
      .sort((a, b) => count(b) - count(a) || compareCanonically(a, b));
    this.lampOrder = receptacles
      .filter((name) => LAMP_PLACES.includes(typeOfName(name)))
      .sort(
        (a, b) => LAMP_PLACES.indexOf(typeOfName(a)) - LAMP_PLACES.indexOf(typeOfName(b)) || compareCanonically(a, b),
      );
  }

  private see(receptacle: string, view: View): void {
    this.seen.set(receptacle, view.status === 'closed' ? 'closed' : 'accessible');
    if (view.status === 'closed') return;
    this.searched.add(receptacle);
    for (const [object, place] of this.whereabouts) if (place === receptacle) this.whereabouts.delete(object);
    for (const object of view.objects) this.whereabouts.set(object, receptacle);
  }

  private setProperty(object: string, set: Property, cleared: Property | null): void {
    const properties = this.properties.get(object) ?? new Set();
    if (cleared !== null) properties.delete(cleared);
    properties.add(set);
    this.properties.set(object, properties);
  }

  private fetch(): string {
    const { goal } = this;
    const target = goal.task === 'two' ? this.chosenTarget() : undefined;
    let known: [string, string] | undefined;
    for (const [object, place] of this.whereabouts) {
      if (typeOfName(object) !== goal.object || place === target) continue;
      if (this.here.has(place)) {
        known = [object, place];
        break;
      }
      known ??= [object, place];
    }
    if (known !== undefined) {
      const [object, place] = known;
      return this.at(place, () => this.inside(place, `take ${object} from ${place}`));
    }
    return this.search(this.searchOrder);
  }

  private light(): string {
    for (const [object, place] of this.whereabouts) {
      if (typeOfName(object) === this.goal.target) return this.at(place, () => `use ${object}`);
    }
    return this.search(this.lampOrder);
  }

  // The next receptacle of an order whose contents have not been seen; one that is here first.
  private search(order: readonly string[]): string {
    const unseen = order.filter((name) => !this.searched.has(name));
    const place = unseen.find((name) => this.here.has(name)) ?? unseen[0];
    return this.at(place, (name) => this.inside(name, `examine ${name}`));
  }

  private putAway(object: string): string {
    const fitting = this.receptacles.filter((name) => typeOf(name).accepts.has(typeOfName(object)));
    const place =
      fitting.find((name) => this.here.has(name)) ??
      fitting.find((name) => this.seen.get(name) === 'accessible' || !typeOf(name).openable) ??
      fitting[0];
    return this.at(place, (name) => this.inside(name, `move ${object} to ${name}`));
  }

  // Where to deliver: for `two` where one lies already, else a target that is here, else the first.
  private chosenTarget(): string | undefined {
    const targets = this.receptacles.filter((name) => typeOfName(name) === this.goal.target);
    if (this.goal.task === 'two') {
      for (const [object, place] of this.whereabouts) {
        if (typeOfName(object) === this.goal.object && targets.includes(place)) return place;
      }
    }
    return targets.find((name) => this.here.has(name)) ?? targets[0];
  }

  /** The walk to a receptacle, or what to do once it is here. */
  private at(receptacle: string | undefined, then: (receptacle: string) => string): string {
    // Nothing left to try: only in a room made by hand, or after others have carried the object away unseen.
    if (receptacle === undefined) return 'look';
    return this.here.has(receptacle) ? then(receptacle) : `go to ${receptacle}`;
  }

  /** What makes the inside of a receptacle here known and reachable, or `command` when it is. */
  private inside(receptacle: string, command: string): string {
    const seen = this.seen.get(receptacle);
    if (seen === undefined) return `examine ${receptacle}`;
    return seen === 'closed' ? `open ${receptacle}` : command;
  }
}

function typeOf(receptacle: string): ReceptacleType {
  return receptacleTypes.get(typeOfName(receptacle))!;
}
