// The golden example of an event type, for whoever wants to write one by hand.

import { EVENT_TYPES, type EventType, exampleOf, isEventType, type LedgerEvent } from '../events/event.js'

export const knownEventTypes = (): readonly EventType[] => EVENT_TYPES

/** undefined: this version has no such event. */
export const exampleEvent = (event_type: string): LedgerEvent | undefined => (isEventType(event_type) ? exampleOf(event_type) : undefined)
