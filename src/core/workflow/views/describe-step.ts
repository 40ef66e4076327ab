import type { StepRule } from '../definition.ts'
import type { StepReason } from '../progress/step-facts.ts'
import type { StepCounts, ShownStepState } from '../../wire/workflow-view.ts'

/** The facts that a sentence about a step uses; steps are given by name. */
export interface StepSituation {
  readonly state: ShownStepState
  readonly reason: StepReason | null
  /** The message stored with the state. */
  readonly message: string | null
  /** The progress of its workflow. */
  readonly workflow: 'waiting' | 'begun' | 'over'
  /** For a step that was not reached: the steps it waits for. */
  readonly waitsFor: readonly string[]
  /** It may wait for other steps too: not all its needs were examined. */
  readonly mayWaitForMore: boolean
  /** For a step that was skipped because of others: which steps, and where it began. */
  readonly because: NamedSkipExplanation | null
  /** Names of the tokens that may approve it; empty for every operator. */
  readonly by: readonly string[]
  /** The counts of its items, if it is a fan-out. */
  readonly items: StepCounts | null
}

export interface NamedSkipExplanation {
  readonly when: StepRule
  readonly needs: readonly NamedStepState[]
  readonly origins: readonly NamedStepState[]
}

export interface NamedStepState {
  readonly name: string
  readonly state: ShownStepState
}

/** One sentence that explains the state of a step; null if the state says it all. */
export function describeStepState(situation: StepSituation): string | null {
  const { state, reason, message, items } = situation
  switch (state) {
    case 'untouched':
      return whyUntouched(situation)
    case 'waiting': {
      const who = situation.by.length === 0 ? 'a user' : joinNames(situation.by, 'or')
      return `It waits for ${who} to approve it${withMessage(message)}`
    }
    case 'skipped':
      return whySkipped(situation)
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

function whyUntouched({ workflow, waitsFor, mayWaitForMore }: StepSituation): string {
  if (workflow === 'waiting') return 'The workflow has not begun.'
  if (workflow === 'over') return 'The workflow ended before reaching it.'
  if (mayWaitForMore) {
    const named = waitsFor.slice(0, MAX_NAMED).join(', ')
    return named === '' ? 'It waits for other steps.' : `It waits for ${named} and other steps.`
  }
  return waitsFor.length === 0 ? 'It is about to start.' : `It waits for ${joinNames(waitsFor)}.`
}

function whySkipped({ reason, because }: StepSituation): string {
  switch (reason) {
    case 'condition':
      return 'Its `if` was false.'
    case 'operator':
      return 'A user skipped it.'
    case 'cancelled':
      return 'The workflow was cancelled before it could start.'
    case 'timeout':
      return 'The workflow ran out of time before it could start.'
    default:
      return because ? describeSkipCause(because) : 'Its rule could not be met.'
  }
}

function whyFailed(reason: StepReason, message: string | null): string {
  switch (reason) {
    case 'expression':
      return `It could not be started${withMessage(message)}`
    case 'submission':
      return `Its run was not accepted${withMessage(message)}`
    case 'refused':
      return `Its approval was refused${withMessage(message)}`
    case 'expired':
      return 'It was not approved in time.'
    default:
      return `It failed${withMessage(message)}`
  }
}

const RULE_TEXT: Readonly<Record<StepRule, string>> = {
  'all-succeeded': 'All steps it needs must succeed',
  'all-done': 'All steps it needs must end',
  'any-succeeded': 'At least one step it needs must succeed',
  'any-failed': 'At least one step it needs must fail',
  'none-failed': 'No step it needs may fail',
  always: 'It always runs',
}

function describeSkipCause({ when, needs, origins }: NamedSkipExplanation): string {
  if (needs.length === 0) return `${RULE_TEXT[when]}, and it needs no steps.`
  const ends = needs.map(describeEnd)
  const beginnings = origins.filter(({ name }) => !needs.some((need) => need.name === name))
  const since = beginnings.length === 0 ? '' : `, because ${joinNames(beginnings.map(describeEnd))}`
  return `${RULE_TEXT[when]}, and ${joinNames(ends)}${since}.`
}

function describeEnd({ name, state }: NamedStepState): string {
  const isDone = state === 'skipped' || state === 'cancelled'
  return isDone ? `${name} was ${state}` : `${name} ${state}`
}

/** Maximum number of names in a list; further ones are counted. */
const MAX_NAMED = 3

function joinNames(names: readonly string[], last = 'and'): string {
  if (names.length === 1) return names[0] as string
  const named = names.slice(0, names.length > MAX_NAMED ? MAX_NAMED : -1)
  const rest = names.length > MAX_NAMED ? `${names.length - MAX_NAMED} more` : names.at(-1)
  return `${named.join(', ')} ${last} ${rest}`
}

function withMessage(message: string | null): string {
  return message === null ? '.' : `: ${asSentence(message)}`
}

function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
