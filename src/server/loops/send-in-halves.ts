/**
 * Sends a refused batch again as two: repeated by `send` for each refused half, this leaves the item
 * that spoils the batch alone, and all others are accepted.
 */
export async function sendInHalves<Item>(
  items: readonly Item[],
  send: (half: readonly Item[]) => Promise<void>,
): Promise<void> {
  const middle = Math.ceil(items.length / 2)
  await send(items.slice(0, middle))
  await send(items.slice(middle))
}
