/**
 * Wakes the one loop that waits for it. Like a condition variable: look first, then wait, then look
 * again. Waiting anew forgets an earlier wait, so abandoned ones leave nothing behind.
 */
export interface Bell {
  ring(): void
  heard(): Promise<void>
}

export function createBell(): Bell {
  const nobody = () => {}
  let wake: () => void = nobody
  return {
    ring() {
      wake()
      // Rung once per finished run: resolving a settled promise again is not free.
      wake = nobody
    },
    heard: () =>
      new Promise((resolve) => {
        wake = resolve
      }),
  }
}

/**
 * Resolves when everything that is already finished has been noticed. Not a delay: handlers whose
 * answers arrived together end in one turn of the event loop, and belong in one message.
 */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
