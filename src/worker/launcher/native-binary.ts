import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { compiled, FLAGS } from './native-build.ts'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Part of the package. */
const PREBUILT = at(`../../native/launcher-${process.platform}-${process.arch}`)
/** Exists only in a checkout, where it is compiled when first needed. */
const SOURCE = at('../../../native/launcher.c')
const CACHE = at('../../../node_modules/.cache/punctual')

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
  if (!existsSync(SOURCE)) {
    return { why: `this package has no native launcher for ${process.platform}-${process.arch}` }
  }
  try {
    return { path: await compiled(SOURCE, { cache: CACHE, flags: FLAGS.portable }) }
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no C compiler' : error
    return { why: `the native launcher cannot be compiled: ${String(reason)}` }
  }
}
