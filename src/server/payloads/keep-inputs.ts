import { PunctualError } from '../../core/errors.ts'
import type { NewRun } from '../../store/port.ts'
import type { KeptPayload, Payloads } from './payloads.ts'

/** Inputs of a batch that are written concurrently. */
const AT_ONCE = 8
/** Characters that are encoded and hashed before other work of the event loop gets a turn. */
const TURN_CHARACTERS = 2 ** 20

export interface KeptRun {
  readonly run: NewRun
  /** Called once the row of the run is committed. */
  readonly settle?: KeptPayload['settle']
}

/**
 * Stores inputs that are too large for a row as blobs; an input that cannot be stored becomes an
 * error, and earlier errors stay.
 */
export async function keepInputs(
  runs: readonly (NewRun | PunctualError)[],
  payloads: Payloads,
): Promise<(KeptRun | PunctualError)[]> {
  const turnFor = createTurns()
  return mapSome(runs, async (run) =>
    run instanceof PunctualError ? run : keepInput(run, payloads, turnFor),
  )
}

/** Resolves in a later turn of the event loop when texts of this length would make the current one long. */
function createTurns(): (characters: number) => Promise<void> {
  let turn = Promise.resolve()
  let taken = 0
  return (characters) => {
    taken += characters
    if (taken > TURN_CHARACTERS) {
      taken = characters
      turn = turn.then(() => new Promise((resolve) => setImmediate(resolve)))
    }
    return turn
  }
}

async function keepInput(
  run: NewRun,
  payloads: Payloads,
  turnFor: (characters: number) => Promise<void>,
): Promise<KeptRun | PunctualError> {
  if (!payloads.isLarge(run.input)) return { run }
  await turnFor(run.input.length)
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
