import { open } from 'node:fs/promises'

/** Flushes a copied file to disk; otherwise the next fsync, inside a measurement, would pay for it. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync()
  await file.close()
}
