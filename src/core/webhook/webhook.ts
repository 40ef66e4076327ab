import type { ViolationKind } from '../expectation/violation.ts'
import type { FinalState } from '../run/run-state.ts'

/**
 * The events that a webhook can subscribe to. A recovery is also a success; a webhook with both events receives both
 * messages.
 */
export const WEBHOOK_EVENTS = [
  'run.failed',
  'run.recovered',
  'run.succeeded',
  'run.cancelled',
  'run.late',
  'run.slow',
  'run.unfinished',
  'run.empty',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

/** Sent by the test command; no subscription is needed. */
export const TEST_EVENT = 'webhook.test'

/** The stored bits of events in both databases. Bits never change. */
export const EVENT_BIT = {
  'run.failed': 1,
  'run.recovered': 2,
  'run.succeeded': 4,
  'run.cancelled': 8,
  'run.late': 16,
  'run.slow': 32,
  'run.unfinished': 64,
  'run.empty': 128,
} as const satisfies Record<WebhookEvent, number>

/** The event for the end of a run, besides a recovery. Skipped runs send no event. */
export const RUN_END_EVENT_BIT = {
  failed: EVENT_BIT['run.failed'],
  succeeded: EVENT_BIT['run.succeeded'],
  cancelled: EVENT_BIT['run.cancelled'],
  skipped: 0,
} as const satisfies Record<FinalState, number>

/** The event for a violated expectation; it is mostly sent before the run has ended. */
export const VIOLATION_EVENT_BIT = {
  late: EVENT_BIT['run.late'],
  slow: EVENT_BIT['run.slow'],
  unfinished: EVENT_BIT['run.unfinished'],
  empty: EVENT_BIT['run.empty'],
} as const satisfies Record<ViolationKind, number>

export function eventBitsOf(events: readonly WebhookEvent[]): number {
  return events.reduce((bits, event) => bits | EVENT_BIT[event], 0)
}

export function eventsOf(bits: number): WebhookEvent[] {
  return WEBHOOK_EVENTS.filter((event) => (bits & EVENT_BIT[event]) !== 0)
}

/** Whether a webhook with these job patterns applies to the job; `*` stands for any text, null for all jobs. */
export function isForJob(jobs: readonly string[] | null, job: string): boolean {
  return jobs === null || jobs.some((pattern) => matches(pattern.split('*'), job))
}

/** Matches each part at its earliest position: no pattern causes backtracking. */
function matches([first = '', ...rest]: readonly string[], text: string): boolean {
  const last = rest.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length >= at + last.length && text.endsWith(last)
}
