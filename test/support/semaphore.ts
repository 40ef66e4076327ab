/** A counting semaphore. Requests are granted in order, so that a large one is not starved by small ones. */
export interface Semaphore {
  /** Resolves with a release function once enough permits are free. */
  acquire(permits: number): Promise<() => void>
}

export function createSemaphore(size: number): Semaphore {
  const waiting: { readonly permits: number; grant(): void }[] = []
  let free = size
  const grantWaiting = () => {
    for (let first = waiting[0]; first && first.permits <= free; first = waiting[0]) {
      waiting.shift()
      free -= first.permits
      first.grant()
    }
  }
  return {
    acquire: (permits) =>
      new Promise((resolve) => {
        const release = () => {
          free += permits
          grantWaiting()
        }
        waiting.push({ permits, grant: () => resolve(release) })
        grantWaiting()
      }),
  }
}
