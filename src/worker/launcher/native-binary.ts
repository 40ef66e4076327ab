import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compileLauncher, FLAGS, hasLauncherSources } from './native-build.ts'

/** Part of the package. A checkout compiles the launcher when it is first needed. */
const PREBUILT = fileURLToPath(
  new URL(`../../native/launcher-${process.platform}-${process.arch}`, import.meta.url),
)

export type Native = { readonly path: string } | { readonly why: string }

let known: Promise<Native> | undefined

/** The native launcher for this machine, or why there is none. */
export function nativeLauncher(): Promise<Native> {
  known ??= find()
  return known
}

async function find(): Promise<Native> {
  if (existsSync(PREBUILT)) return { path: PREBUILT }
  if (process.platform !== 'linux') return { why: 'the native launcher needs Linux' }
  if (!hasLauncherSources()) {
    return { why: `this package has no native launcher for ${process.platform}-${process.arch}` }
  }
  try {
    return { path: await compileLauncher(FLAGS.portable) }
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no C compiler' : error
    return { why: `the native launcher cannot be compiled: ${String(reason)}` }
  }
}
