import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { TestContext } from 'node:test'

/** So many are quickly taken, and enough for a test until then. */
const MOST = 256

/** Takes every descriptor this process may still have; returns what gives them back. */
export function takeDescriptors(t: TestContext): () => void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--nofile=${MOST}:`])
  const taken: number[] = []
  const giveBack = () => {
    for (const fd of taken.splice(0)) closeSync(fd)
  }
  t.after(giveBack)
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return giveBack
  }
}
