/**
 * Wakes the one loop that waits. Used like a condition variable: check the condition, wait, check
 * again. A new wait replaces the previous one, so abandoned waits leave nothing behind.
 */
export interface WakeUp {
  notify(): void
  wait(): Promise<void>
}

export function createWakeUp(): WakeUp {
  const noWaiter = () => {}
  let wake: () => void = noWaiter
  return {
    notify() {
      wake()
      // Called once per finished run: resolving an already settled promise is not free.
      wake = noWaiter
    },
    wait: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
  }
}

/**
 * Resolves at the end of the current turn of the event loop. Handlers whose answers arrived
 * together end in the same turn, so their reports go into one message.
 */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
