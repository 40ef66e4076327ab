import { StoreError, type TickResult } from '../../store/port.ts'
import type { Work } from './compose-tick.ts'

export interface Isolating {
  run(work: Work): Promise<TickResult>
  apply(work: Work, result: TickResult): void
  /** The item that the store refuses even when it is alone. */
  reject(work: Work, error: StoreError): void
}

/**
 * The store refused a batch: one item in it is poison. Kinds are tried apart first, because a poison
 * item spoils one kind only; then halves, until it stands alone. Everyone else's work goes through.
 */
export async function isolate(work: Work, context: Isolating): Promise<void> {
  for (const piece of split(work)) {
    try {
      context.apply(piece, await context.run(piece))
    } catch (error) {
      if (!(error instanceof StoreError) || error.outcome !== 'refused')
        throw new Unfinished(piece, error)
      if (sizeOf(piece) > 1) await isolate(piece, context)
      else context.reject(piece, error)
    }
  }
}

/** The store went away in the middle: what was in `work` has still to be done. */
export class Unfinished extends Error {
  readonly work: Work

  constructor(work: Work, cause: unknown) {
    super('the store failed while a poison item was being isolated', { cause })
    this.work = work
  }
}

function split(work: Work): Work[] {
  const kinds = [work.submits, work.ends, work.cancels].filter((entries) => entries.length > 0)
  if (kinds.length > 1) {
    return [
      cut(work, { submits: work.submits }),
      cut(work, { ends: work.ends }),
      cut(work, { cancels: work.cancels }),
    ].filter((piece) => sizeOf(piece) > 0)
  }
  return (['submits', 'ends', 'cancels'] as const).flatMap((kind) => {
    const entries = work[kind]
    const middle = Math.ceil(entries.length / 2)
    return [entries.slice(0, middle), entries.slice(middle)]
      .filter((half) => half.length > 0)
      .map((half) => cut(work, { [kind]: half }))
  })
}

function cut(work: Work, kept: Partial<Pick<Work, 'submits' | 'ends' | 'cancels'>>): Work {
  const { submits = [], ends = [], cancels = [] } = kept
  return {
    submits,
    ends,
    cancels,
    claims: [],
    promises: [],
    batch: {
      node: work.batch.node,
      submits: submits.map((entry) => entry.item),
      ends: ends.map((entry) => entry.item),
      cancels: cancels.map((entry) => entry.item),
      claims: [],
    },
  }
}

function sizeOf(work: Work): number {
  return work.submits.length + work.ends.length + work.cancels.length
}
