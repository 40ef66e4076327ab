import { PunctualError } from '../../core/errors.ts'
import type { NewRun } from '../../store/port.ts'
import type { Submitted } from '../dispatch/pending.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { KeptPayload, Payloads } from '../payloads/payloads.ts'

/** So many inputs of a batch are written at once. */
const AT_ONCE = 8

/**
 * Submits runs of which some have inputs too large for a row: first the blobs, then the rows. A run
 * whose input could not be stored is refused in its place; the others are stored.
 */
export async function submitLarge(
  drafts: readonly NewRun[],
  {
    payloads,
    ticker,
    node,
  }: { payloads: Payloads; ticker: Pick<Ticker, 'submit'>; node: () => number },
): Promise<(Submitted | PunctualError)[]> {
  const life = node()
  const kept = await keepInputs(drafts, payloads)
  if (node() !== life) {
    // Ids of an earlier life mean nothing to this one, and the blobs are named after them.
    const lost = new PunctualError('store_unavailable', 'the node lost its place meanwhile')
    return drafts.map(() => lost)
  }
  const runs = kept.flatMap((one) => (one instanceof PunctualError ? [] : [one.run]))
  const answers = (await ticker.submit(runs)).values()
  for (const one of kept) if (!(one instanceof PunctualError)) await one.settle?.()
  return kept.map((one) =>
    one instanceof PunctualError ? one : (answers.next().value as Submitted | PunctualError),
  )
}

export interface KeptRun {
  readonly run: NewRun
  /** To be called once the row of the run is committed. */
  readonly settle?: KeptPayload['settle']
}

/** Inputs that are too large for a row become blobs; what cannot be kept, or was no run before, is an error. */
export async function keepInputs(
  runs: readonly (NewRun | PunctualError)[],
  payloads: Payloads,
): Promise<(KeptRun | PunctualError)[]> {
  return mapSome(runs, async (run) =>
    run instanceof PunctualError ? run : keepInput(run, payloads),
  )
}

async function keepInput(run: NewRun, payloads: Payloads): Promise<KeptRun | PunctualError> {
  if (!payloads.isLarge(run.input)) return { run }
  try {
    const { text, settle } = await payloads.keep(run.id, 'input', run.input)
    return { run: { ...run, input: text }, settle }
  } catch (error) {
    if (error instanceof PunctualError) return error
    throw error
  }
}

async function mapSome<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results = new Array<R>(items.length)
  const left = items.entries()
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}
