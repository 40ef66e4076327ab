// `npm run build:native`: builds the native launcher for the package, named after the platform. With
// `--optional`, a machine that cannot build it gets a message and continues: there is a launcher in Node.
import { copyFileSync, mkdirSync, renameSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { compileLauncher, FLAGS } from '../src/worker/launcher/native-build.ts'

const root = resolve(import.meta.dirname, '..')
const target = resolve(root, `dist/native/launcher-${process.platform}-${process.arch}`)

try {
  if (process.platform !== 'linux') throw new Error('the native launcher needs Linux')
  const built = await compileLauncher(FLAGS.portable)
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(built, `${target}.new`)
  renameSync(`${target}.new`, target)
} catch (error) {
  const reason =
    (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no C compiler' : error
  process.stderr.write(`no native launcher: ${String(reason)}\n`)
  process.exitCode = process.argv.includes('--optional') ? 0 : 1
}
