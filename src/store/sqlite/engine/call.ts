import type { SqliteEngine } from './engine.ts'
import type { OperationName, Operations } from './engine-operations.ts'

/** Calls a store operation, whichever thread runs it. */
export type OperationCall = <Name extends OperationName>(
  operation: Name,
  ...args: Parameters<Operations[Name]>
) => Promise<ReturnType<Operations[Name]>>

export function callInline(engine: SqliteEngine): OperationCall {
  return async (operation, ...args) => {
    const answer = (
      engine.operations[operation] as (
        ...given: typeof args
      ) => ReturnType<Operations[typeof operation]>
    )(...args)
    engine.settle()
    return answer
  }
}
