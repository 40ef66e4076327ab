import type { LapseKind } from '../expectation/violation.ts'
import type { FinalState } from '../run/run-state.ts'

/** What a webhook can be told of. A recovery is also a success; whoever asks for both hears both. */
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

/** Sent when somebody tries a webhook out; nobody has to ask for it. */
export const TEST_EVENT = 'webhook.test'

/** How a set of events is stored, in both databases. Bits are forever. */
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

/** What the end of a run is, besides a recovery. Nobody is told of runs that were skipped. */
export const BIT_OF_END = {
  failed: EVENT_BIT['run.failed'],
  succeeded: EVENT_BIT['run.succeeded'],
  cancelled: EVENT_BIT['run.cancelled'],
  skipped: 0,
} as const satisfies Record<FinalState, number>

/** What is told of a run that did not keep to what was expected of it, mostly while it has not ended. */
export const BIT_OF_LAPSE = {
  late: EVENT_BIT['run.late'],
  slow: EVENT_BIT['run.slow'],
  unfinished: EVENT_BIT['run.unfinished'],
  empty: EVENT_BIT['run.empty'],
} as const satisfies Record<LapseKind, number>

export function bitsOf(events: readonly WebhookEvent[]): number {
  return events.reduce((bits, event) => bits | EVENT_BIT[event], 0)
}

export function eventsOf(bits: number): WebhookEvent[] {
  return WEBHOOK_EVENTS.filter((event) => (bits & EVENT_BIT[event]) !== 0)
}

/** Whether a webhook for these jobs is for this one; `*` stands for any text, null for all jobs. */
export function isForJob(jobs: readonly string[] | null, job: string): boolean {
  return jobs === null || jobs.some((pattern) => matches(pattern.split('*'), job))
}

/** Part after part, each as early as it can be: no pattern makes this look at a text twice. */
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
