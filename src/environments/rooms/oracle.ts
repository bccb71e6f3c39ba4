import {
  CLEANABLE,
  COOLABLE,
  COOLER,
  HAND,
  HEATABLE,
  HEATER,
  NO_COMMAND,
  NONE,
  PICKABLE,
  Verb,
  WASHER,
  command,
  type Room,
} from './room.ts';
import { CLEAN, COOL, HOT, USED, type RoomState } from './state.ts';

/**
 * Shortest plans with full knowledge, built directly: a plan is "put away what is in the way, fetch, treat, deliver", and
 * the oracle tries every choice of object, appliance, target and place to put things away. Tests compare its length with
 * a breadth-first search from every state of the small rooms.
 */
export class Oracle {
  private readonly room: Room;
  private readonly plan: Int32Array;
  private length = 0;
  private readonly best: Int32Array;
  private bestLength = 0;
  // What a plan under construction has changed: where the agent stands, which doors it has opened, where it has put
  // down what was in the hand (NONE: nowhere).
  private at = NONE;
  private readonly opened: Uint8Array;
  private putDownIn = NONE;

  constructor(private readonly state: RoomState) {
    this.room = state.room;
    this.plan = new Int32Array(LONGEST);
    this.best = new Int32Array(LONGEST);
    this.opened = new Uint8Array(this.room.receptacleNames.length);
  }

  /** Number of commands to the goal from the current state: 0 when it holds, −1 when it cannot be reached. */
  distance(): number {
    if (this.state.isWon()) return 0;
    this.search();
    return this.bestLength > LONGEST ? -1 : this.bestLength;
  }

  /** The first command of a shortest plan, or NO_COMMAND when the goal holds already or cannot be reached. */
  nextCommand(): number {
    return this.distance() > 0 ? this.best[0]! : NO_COMMAND;
  }

  /** A shortest plan from the current state; empty when the goal holds, null when it cannot be reached. */
  shortestPlan(): number[] | null {
    const distance = this.distance();
    return distance < 0 ? null : Array.from(this.best.subarray(0, distance));
  }

  private search(): void {
    this.bestLength = LONGEST + 1;
    const { goalObjects } = this.room;
    switch (this.room.goal.task) {
      case 'pick':
        return this.searchDelivery(0);
      case 'clean':
        return this.searchDelivery(CLEAN);
      case 'heat':
        return this.searchDelivery(HOT);
      case 'cool':
        return this.searchDelivery(COOL);
      case 'look':
        for (const o of goalObjects) {
          for (const lamp of this.room.goalLamps) this.eachFetch(o, () => this.finishLook(lamp));
        }
        return;
      case 'two':
        return this.searchPair();
    }
  }

  private searchDelivery(property: number): void {
    const { room, state } = this;
    for (const o of room.goalObjects) {
      const treated = (state.properties[o]! & property) === property;
      for (const target of room.goalReceptacles) {
        if (!this.accepts(target, o)) continue;
        if (treated) {
          this.eachFetch(o, () => this.finishWith(o, target));
          continue;
        }
        const { verb, trait, appliance } = treatments[property]!;
        if ((room.objectTraits[o]! & trait) === 0) continue;
        for (let r = 0; r < room.receptacleNames.length; r++) {
          if ((room.receptacleTraits[r]! & appliance) === 0) continue;
          this.eachFetch(o, () => {
            this.go(r);
            this.add(command(verb, o, r));
            this.finishWith(o, target);
          });
        }
      }
    }
  }

  private searchPair(): void {
    const { goalObjects, goalReceptacles } = this.room;
    for (const target of goalReceptacles) {
      const present = goalObjects.find((o) => this.state.in[o] === target);
      for (const first of goalObjects) {
        if (first === present || !this.accepts(target, first)) continue;
        if (present !== undefined) {
          this.eachFetch(first, () => this.finishWith(first, target));
          continue;
        }
        for (const second of goalObjects) {
          if (second === first) continue;
          this.eachFetch(first, () => {
            this.deliver(first, target);
            this.fetch(second);
            this.finishWith(second, target);
          });
        }
      }
    }
  }

  /** Runs `finish` behind every sensible way to get an object into the hand. */
  private eachFetch(o: number, finish: () => void): void {
    const { state, room } = this;
    const { hand } = state;
    if (hand === o || hand === NONE) {
      if (hand === NONE && (room.objectTraits[o]! & PICKABLE) === 0) return;
      this.begin();
      this.fetch(o);
      finish();
      return;
    }
    // Something else is in the hand. Put it down here, at a receptacle of the plan, or on the way: of all the others
    // one that is accessible and one that is not stand for the rest, since their detours cost the same.
    let detourAccessible = false;
    let detourShut = false;
    for (let r = 0; r < room.receptacleNames.length; r++) {
      if (!this.accepts(r, hand)) continue;
      const onThePlan = state.isHere(r) || this.matters(r);
      const accessible = state.isAccessible(r);
      if (!onThePlan && (accessible ? detourAccessible : detourShut)) continue;
      if (accessible) detourAccessible = true;
      else detourShut = true;
      this.begin();
      this.deliver(hand, r);
      this.putDownIn = r;
      this.fetch(o);
      finish();
    }
  }

  // Whether a plan may come by this receptacle anyway, or open it.
  private matters(r: number): boolean {
    const { room, state } = this;
    if (room.together[r]!.length > 1 || room.goalReceptacles.includes(r)) return true;
    for (const o of room.goalObjects) if (state.in[o] === r) return true;
    return false;
  }

  private accepts(r: number, o: number): boolean {
    return this.room.accepts[r * this.room.objectNames.length + o] === 1;
  }

  private begin(): void {
    this.length = 0;
    this.at = this.state.at;
    this.putDownIn = NONE;
    this.opened.fill(0);
  }

  private add(code: number): void {
    if (this.length < LONGEST) this.plan[this.length] = code;
    this.length++;
  }

  private go(r: number): void {
    if (this.at !== NONE && this.room.place[this.at] === this.room.place[r]) return;
    this.add(command(Verb.go, 0, r));
    this.at = r;
  }

  private reach(r: number): void {
    this.go(r);
    if (this.state.isAccessible(r) || this.opened[r] === 1) return;
    this.add(command(Verb.open, 0, r));
    this.opened[r] = 1;
  }

  private fetch(o: number): void {
    const isInHand = this.state.in[o] === HAND;
    if (isInHand && this.putDownIn === NONE) return;
    const r = isInHand ? this.putDownIn : this.state.in[o]!;
    this.reach(r);
    this.add(command(Verb.take, o, r));
  }

  private deliver(o: number, r: number): void {
    this.reach(r);
    this.add(command(Verb.move, o, r));
  }

  private finishWith(o: number, target: number): void {
    this.deliver(o, target);
    this.finish();
  }

  private finishLook(lamp: number): void {
    const r = this.state.in[lamp]!;
    this.go(r);
    if ((this.state.properties[lamp]! & USED) === 0) this.add(command(Verb.use, lamp));
    this.finish();
  }

  private finish(): void {
    if (this.length >= this.bestLength) return;
    this.bestLength = this.length;
    this.best.set(this.plan.subarray(0, Math.min(this.length, LONGEST)));
  }
}

/** Room for the longest plan: put away (3), two fetches and deliveries with doors (12). */
const LONGEST = 16;

const treatments: Readonly<Record<number, { verb: number; trait: number; appliance: number }>> = {
  [CLEAN]: { verb: Verb.clean, trait: CLEANABLE, appliance: WASHER },
  [HOT]: { verb: Verb.heat, trait: HEATABLE, appliance: HEATER },
  [COOL]: { verb: Verb.cool, trait: COOLABLE, appliance: COOLER },
};
