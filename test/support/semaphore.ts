/** So many may be inside at once. Who came first enters first, so that nobody who needs much waits for ever. */
export interface Room {
  /** Resolves, once there is room for as much, with how to leave. */
  enter(places: number): Promise<() => void>
}

export function createRoom(size: number): Room {
  const line: { readonly places: number; letIn(): void }[] = []
  let free = size
  const open = () => {
    for (let first = line[0]; first && first.places <= free; first = line[0]) {
      line.shift()
      free -= first.places
      first.letIn()
    }
  }
  return {
    enter: (places) =>
      new Promise((resolve) => {
        const leave = () => {
          free += places
          open()
        }
        line.push({ places, letIn: () => resolve(leave) })
        open()
      }),
  }
}
