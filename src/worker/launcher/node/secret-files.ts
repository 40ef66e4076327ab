import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { SecretFiles } from '../messages.ts'

/** Writes all files or none. Returns a function that deletes them. */
export function writeSecretFiles(order: SecretFiles | undefined): () => void {
  const { directory, files } = order ?? { directory: '', files: [] }
  const written: string[] = []
  const remove = () => {
    for (const path of written.splice(0)) rmSync(path, { force: true })
  }
  try {
    for (const { name, mode, content } of files) {
      if (basename(name) !== name || name.startsWith('.'))
        throw new Error(`${name} is no file name`)
      const path = join(directory, name)
      writeFileSync(path, content, { mode: 0o600, flag: 'wx' })
      written.push(path)
      chmodSync(path, mode)
    }
  } catch (error) {
    remove()
    const why = (error as Error).message
    throw new Error(`its secret files cannot be written: ${why}`, { cause: error })
  }
  return remove
}
