import type { Engine } from './prepare-operations.ts'
import type { VerbName, Verbs } from '../operations/operations.ts'

/** One way to ask for a verb, whichever thread answers it. */
export type Call = <Verb extends VerbName>(
  verb: Verb,
  ...args: Parameters<Verbs[Verb]>
) => Promise<ReturnType<Verbs[Verb]>>

export function callInline(engine: Engine): Call {
  return async (verb, ...args) => {
    const answer = (
      engine.verbs[verb] as (...given: typeof args) => ReturnType<Verbs[typeof verb]>
    )(...args)
    engine.settle()
    return answer
  }
}
