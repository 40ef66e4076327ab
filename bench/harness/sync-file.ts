import { open } from 'node:fs/promises'

/** A copy that is still on its way to the disk would be paid for by whoever syncs next. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync()
  await file.close()
}
