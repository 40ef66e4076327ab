import { StoreError, type TickResult } from '../../store/port.ts'
import type { TickWork } from './compose-tick.ts'

export interface IsolateContext {
  run(work: TickWork): Promise<TickResult>
  apply(work: TickWork, result: TickResult): void
  /** The item that the store refuses even when it is alone. */
  reject(work: TickWork, error: StoreError): void
}

/**
 * The store refused a batch: one of its items cannot be stored. Kinds are tried separately first,
 * because such an item spoils only its own kind; then halves, until it is alone. All other work
 * goes through.
 */
export async function isolate(work: TickWork, context: IsolateContext): Promise<void> {
  for (const piece of split(work)) {
    try {
      context.apply(piece, await context.run(piece))
    } catch (error) {
      if (!(error instanceof StoreError) || error.outcome !== 'refused')
        throw new UnfinishedWork(piece, error)
      if (sizeOf(piece) > 1) await isolate(piece, context)
      else context.reject(piece, error)
    }
  }
}

/** The store became unavailable in between: what is left in `work` has still to be done. */
export class UnfinishedWork extends Error {
  readonly work: TickWork

  constructor(work: TickWork, cause: unknown) {
    super('the store failed while a poison item was being isolated', { cause })
    this.work = work
  }
}

function split(work: TickWork): TickWork[] {
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

function cut(
  work: TickWork,
  kept: Partial<Pick<TickWork, 'submits' | 'ends' | 'cancels'>>,
): TickWork {
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

function sizeOf(work: TickWork): number {
  return work.submits.length + work.ends.length + work.cancels.length
}
