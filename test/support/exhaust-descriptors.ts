import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { TestContext } from 'node:test'

/** Few enough to use up quickly, and enough for a test until then. */
const MAX_DESCRIPTORS = 256

/** Opens every file descriptor this process may still have; returns a function that closes them. */
export function exhaustDescriptors(t: TestContext): () => void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${MAX_DESCRIPTORS}:`])
  const taken: number[] = []
  const release = () => {
    for (const fd of taken.splice(0)) closeSync(fd)
  }
  t.after(release)
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return release
  }
}
