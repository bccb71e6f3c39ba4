import type { Observation } from '../environment.ts';
import type { RoomsEvent, View } from './events.ts';

/** An event in words: a pure function of it, so that equal events are equal texts in every room and on every path. */
export function observationOf(event: RoomsEvent): Observation<RoomsEvent> {
  const compact = compactText(event);
  return {
    text: longText(event),
    compact,
    // The list of all receptacles is by far the longest observation, and the prompt shows it once anyway.
    brief: event.kind === 'start' || (event.kind === 'look' && event.facing === null) ? 'room' : compact,
    event,
  };
}

/** Wording for people. */
export function longText(event: RoomsEvent): string {
  switch (event.kind) {
    case 'start':
      return `A ${event.room} with ${longList(event.receptacles)}. Goal: ${event.goal}.`;
    case 'none':
      return 'No effect.';
    case 'arrive':
      return `Now at ${event.receptacle}. ${longView(event.receptacle, event.view)}`;
    case 'view':
      return longView(event.receptacle, event.view);
    case 'open':
      return `Opened ${event.receptacle}. Inside: ${longList(objectsIn(event.view))}.`;
    case 'close':
      return `Shut ${event.receptacle}.`;
    case 'take':
      return `Picked ${event.object} from ${event.receptacle}.`;
    case 'put':
      return `Left ${event.object} at ${event.receptacle}.`;
    case 'heat':
      return `Heated ${event.object} in ${event.receptacle}.`;
    case 'cool':
      return `Cooled ${event.object} in ${event.receptacle}.`;
    case 'clean':
      return `Cleaned ${event.object} in ${event.receptacle}.`;
    case 'use':
      return `${event.object} is lit.`;
    case 'inspect':
      if (event.vessel) return `${event.object}: an empty vessel.`;
      return `${event.object}: ${event.properties.length === 0 ? 'ordinary' : event.properties.join(', ')}.`;
    case 'look':
      return event.facing === null
        ? `Around you: ${longList(event.receptacles)}.`
        : `Before you: ${longList(event.facing)}.`;
    case 'inventory':
      return `In hand: ${event.holding ?? 'nothing'}.`;
    case 'help':
      return (
        'Commands: go to R, open R, close R, take O from R, move O to R, heat O with R, cool O with R, clean O with R, ' +
        'use O, examine R, examine O, look, inventory, help.'
      );
  }
}

/** Wording for small policies: words of a closed vocabulary, separated by spaces. */
export function compactText(event: RoomsEvent): string {
  switch (event.kind) {
    case 'start':
      return `room ${compactList(event.receptacles)} goal ${event.goal}`;
    case 'none':
      return 'no effect';
    case 'arrive':
      return `at ${event.receptacle} ${compactView(event.view)}`;
    case 'view':
      return `see ${event.receptacle} ${compactView(event.view)}`;
    case 'open':
      return `opened ${event.receptacle} has ${compactList(objectsIn(event.view))}`;
    case 'close':
      return `shut ${event.receptacle}`;
    case 'take':
      return `took ${event.object} from ${event.receptacle}`;
    case 'put':
      return `put ${event.object} at ${event.receptacle}`;
    case 'heat':
      return `heated ${event.object} with ${event.receptacle}`;
    case 'cool':
      return `cooled ${event.object} with ${event.receptacle}`;
    case 'clean':
      return `cleaned ${event.object} with ${event.receptacle}`;
    case 'use':
      return `lit ${event.object}`;
    case 'inspect':
      if (event.vessel) return `${event.object} empty`;
      return `${event.object} ${event.properties.length === 0 ? 'plain' : event.properties.join(' ')}`;
    case 'look':
      return event.facing === null ? `room ${compactList(event.receptacles)}` : `facing ${compactList(event.facing)}`;
    case 'inventory':
      return `hold ${event.holding ?? 'nothing'}`;
    case 'help':
      return 'help go open close take move heat cool clean use examine look inventory';
  }
}

function objectsIn(view: View): readonly string[] {
  return view.status === 'closed' ? [] : view.objects;
}

function longView(receptacle: string, view: View): string {
  switch (view.status) {
    case 'closed':
      return `${receptacle} is shut.`;
    case 'open':
      return `${receptacle} stands open, inside: ${longList(view.objects)}.`;
    case 'surface':
      return `On ${receptacle}: ${longList(view.objects)}.`;
  }
}

function compactView(view: View): string {
  switch (view.status) {
    case 'closed':
      return 'shut';
    case 'open':
      return `open has ${compactList(view.objects)}`;
    case 'surface':
      return `has ${compactList(view.objects)}`;
  }
}

function longList(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(', ');
}

function compactList(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.join(' , ');
}
