import { PunctualError } from '../../core/errors.ts'
import type {
  CancelCommand,
  CancelVerdict,
  EndCommand,
  EndVerdict,
  NewRun,
} from '../../store/port.ts'
import { mayBeReference } from '../payloads/reference.ts'
import {
  answerEntry,
  type CancelEntry,
  createInbox,
  type EndEntry,
  type Inbox,
  type PendingEntry,
  type SubmitEntry,
  type Submitted,
} from './pending.ts'

/** What callers want from a tick. */
export interface TickEntries {
  readonly submits: readonly SubmitEntry[]
  readonly ends: readonly EndEntry[]
  readonly cancels: readonly CancelEntry[]
}

/** Everything that waits for a tick. */
export interface TickInboxes {
  readonly submits: Inbox<NewRun, Submitted | PunctualError>
  readonly ends: Inbox<EndCommand, EndVerdict | PunctualError>
  readonly cancels: Inbox<CancelCommand, CancelVerdict | PunctualError>
  readonly size: number
  /** Takes what one tick can write. */
  take(tickCap: number): {
    submits: SubmitEntry[]
    ends: EndEntry[]
    cancels: CancelEntry[]
  }
  /** Takes everything. */
  takeAll(): TickEntries
  /** Puts back to the front what has no answer yet. */
  restore(entries: TickEntries): void
  /** Another run already has this id: the run gets a new one and is tried again. */
  remint(entry: SubmitEntry): void
}

export function createTickInboxes(deps: {
  /** The current incarnation of the node. */
  node(): number
  mintId(): number
}): TickInboxes {
  const submits = createInbox<NewRun, Submitted | PunctualError>()
  const ends = createInbox<EndCommand, EndVerdict | PunctualError>()
  const cancels = createInbox<CancelCommand, CancelVerdict | PunctualError>()

  /**
   * The node may have joined anew since. A run that was never sent gets a new id. One that may be
   * stored under its old id is given up, or it could be stored twice; so is one whose input is
   * stored under that id.
   */
  const isOfThisIncarnation = (entry: SubmitEntry): boolean => {
    if (entry.incarnation === deps.node()) return true
    if (entry.tried || mayBeReference(entry.item.input)) {
      answerEntry(
        entry,
        new PunctualError('store_unavailable', 'the node lost its membership in the meantime'),
      )
      return false
    }
    entry.incarnation = deps.node()
    entry.item = { ...entry.item, id: deps.mintId() }
    return true
  }

  return {
    submits,
    ends,
    cancels,
    get size() {
      return submits.size + ends.size + cancels.size
    },
    take: (tickCap) => ({
      submits: submits.take(tickCap).filter(isOfThisIncarnation),
      // Runs end at least as fast as they come in: an unprocessed end still occupies its worker's
      // slot.
      ends: ends.take(2 * tickCap),
      cancels: cancels.take(tickCap),
    }),
    takeAll: () => ({
      submits: submits.take(Infinity),
      ends: ends.take(Infinity),
      cancels: cancels.take(Infinity),
    }),
    restore(entries) {
      submits.restore(entries.submits.filter((entry) => !isAnswered(entry)))
      ends.restore(entries.ends.filter((entry) => !isAnswered(entry)))
      cancels.restore(entries.cancels.filter((entry) => !isAnswered(entry)))
    },
    remint(entry) {
      if (mayBeReference(entry.item.input)) {
        answerEntry(entry, new PunctualError('store_unavailable', 'the id of the run was taken'))
        return
      }
      entry.item = { ...entry.item, id: deps.mintId(), reservation: null }
      submits.restore([entry])
    },
  }
}

export function allEntries({
  submits,
  ends,
  cancels,
}: TickEntries): PendingEntry<unknown, unknown>[] {
  return [...submits, ...ends, ...cancels] as PendingEntry<unknown, unknown>[]
}

export function isAnswered(entry: { index: number; group: { answers: unknown[] } }): boolean {
  return entry.index in entry.group.answers
}
