import type { When } from './definition.ts'
import type { StepReason } from './step-facts.ts'
import type { ShownStepState, StepCounts } from './step-views.ts'

/** What a sentence about a step can be made of; steps by their names. */
export interface StepStory {
  readonly state: ShownStepState
  readonly reason: StepReason | null
  /** What was written down with it. */
  readonly message: string | null
  /** How far its workflow is. */
  readonly flow: 'waiting' | 'begun' | 'over'
  /** Of a step nobody has come to: the steps it waits for. */
  readonly waitsFor: readonly string[]
  /** There may be others that it waits for: not all it needs was looked at. */
  readonly mayWaitForMore: boolean
  /** Of a step that was skipped because of others: who those are, and where it began. */
  readonly because: SkipWords | null
  /** Who may approve it; empty for everybody. */
  readonly by: readonly string[]
  /** Of its items, if it is a fan-out. */
  readonly items: StepCounts | null
}

export interface SkipWords {
  readonly when: When
  readonly needs: readonly NamedEnd[]
  readonly origins: readonly NamedEnd[]
}

export interface NamedEnd {
  readonly name: string
  readonly state: ShownStepState
}

/** Why a step is where it is, in one sentence; null where its state says it all. */
export function sentenceOf(story: StepStory): string | null {
  const { state, reason, message, items } = story
  switch (state) {
    case 'untouched':
      return whyUntouched(story)
    case 'waiting': {
      const who = story.by.length === 0 ? 'somebody' : inWords(story.by, 'or')
      return `It waits for ${who} to approve it${said(message)}`
    }
    case 'skipped':
      return whySkipped(story)
    case 'failed':
      if (reason !== null) return whyFailed(reason, message)
      return items && `${items.failed} of ${items.total} items failed.`
    case 'running':
      return items && `${items.total - items.untouched} of ${items.total} items have begun.`
    case 'succeeded':
    case 'cancelled':
      return message === null ? null : asSentence(message)
  }
}

function whyUntouched({ flow, waitsFor, mayWaitForMore }: StepStory): string {
  if (flow === 'waiting') return 'The workflow has not begun.'
  if (flow === 'over') return 'The workflow ended before it came to it.'
  if (mayWaitForMore) {
    const named = waitsFor.slice(0, MOST_NAMED).join(', ')
    return named === '' ? 'It waits for others.' : `It waits for ${named} and others.`
  }
  return waitsFor.length === 0 ? 'It is about to start.' : `It waits for ${inWords(waitsFor)}.`
}

function whySkipped({ reason, because }: StepStory): string {
  switch (reason) {
    case 'condition':
      return 'Its `if` was false.'
    case 'operator':
      return 'Somebody skipped it.'
    case 'cancelled':
      return 'The workflow was cancelled before it could start.'
    case 'timeout':
      return 'The workflow ran out of time before it could start.'
    default:
      return because ? whatSpoiledIt(because) : 'What it needs did not come true.'
  }
}

function whyFailed(reason: StepReason, message: string | null): string {
  switch (reason) {
    case 'expression':
      return `It could not be started${said(message)}`
    case 'submission':
      return `Its run was not accepted${said(message)}`
    case 'refused':
      return `Somebody refused it${said(message)}`
    case 'expired':
      return 'Nobody approved it in time.'
    default:
      return `It failed${said(message)}`
  }
}

const WANTED: Readonly<Record<When, string>> = {
  'all-succeeded': 'All it needs has to succeed',
  'all-done': 'All it needs has to end',
  'any-succeeded': 'One of those it needs has to succeed',
  'any-failed': 'One of those it needs has to fail',
  'none-failed': 'None of those it needs may fail',
  always: 'It always runs',
}

function whatSpoiledIt({ when, needs, origins }: SkipWords): string {
  if (needs.length === 0) return `${WANTED[when]}, and it needs nothing.`
  const ends = needs.map(endInWords)
  const beginnings = origins.filter(({ name }) => !needs.some((need) => need.name === name))
  const since = beginnings.length === 0 ? '' : `, because ${inWords(beginnings.map(endInWords))}`
  return `${WANTED[when]}, and ${inWords(ends)}${since}.`
}

function endInWords({ name, state }: NamedEnd): string {
  const isDone = state === 'skipped' || state === 'cancelled'
  return isDone ? `${name} was ${state}` : `${name} ${state}`
}

/** More than so many are counted, not named. */
const MOST_NAMED = 3

function inWords(names: readonly string[], last = 'and'): string {
  if (names.length === 1) return names[0] as string
  const named = names.slice(0, names.length > MOST_NAMED ? MOST_NAMED : -1)
  const rest = names.length > MOST_NAMED ? `${names.length - MOST_NAMED} more` : names.at(-1)
  return `${named.join(', ')} ${last} ${rest}`
}

function said(message: string | null): string {
  return message === null ? '.' : `: ${asSentence(message)}`
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
