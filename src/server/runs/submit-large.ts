import { PunctualError } from '../../core/errors.ts'
import type { NewRun } from '../../store/port.ts'
import type { Submitted } from '../dispatch/pending.ts'
import type { Ticker } from '../dispatch/ticker.ts'
import type { Payloads } from '../payloads/payloads.ts'
import { keepInputs } from '../payloads/keep-inputs.ts'

/**
 * Submits runs of which some have inputs too large for a row: first the blobs, then the rows. A run
 * whose input could not be stored is refused at its position; the others are stored.
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
    // Ids of an earlier incarnation mean nothing to this one, and blob names contain them.
    const lost = new PunctualError(
      'store_unavailable',
      'the node lost its membership in the meantime',
    )
    return drafts.map(() => lost)
  }
  const runs = kept.flatMap((one) => (one instanceof PunctualError ? [] : [one.run]))
  const answers = (await ticker.submit(runs)).values()
  for (const one of kept) if (!(one instanceof PunctualError)) await one.settle?.()
  return kept.map((one) =>
    one instanceof PunctualError ? one : (answers.next().value as Submitted | PunctualError),
  )
}
