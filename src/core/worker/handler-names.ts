const HANDLER = 'handler:'

/** The executor of runs for the handler with this name. */
export function handlerExecutor(name: string): string {
  return HANDLER + name
}

/** The handler names among the executors that workers offer. */
export function handlersIn(executors: readonly string[]): string[] {
  return executors.flatMap((executor) =>
    executor.startsWith(HANDLER) ? executor.slice(HANDLER.length) : [],
  )
}
