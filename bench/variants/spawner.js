import { spawn } from 'node:child_process'

// Starts `true` repeatedly; any line on stdin makes it report how many have ended. Plain JavaScript
// without imports from this repository: loading TypeScript makes the process larger, and a larger process
// starts children more slowly.
const MB = 2 ** 20
const { concurrency, heldMb, readsOutput } = JSON.parse(process.argv[2])
const held = Array.from({ length: heldMb }, () => Buffer.alloc(MB, 1))
const output = readsOutput ? 'pipe' : 'ignore'
let ended = 0

function startNext() {
  const child = spawn('true', { stdio: ['ignore', output, output] })
  child.stdout?.resume()
  child.stderr?.resume()
  child.on('error', fail)
  // 'close' fires once the child has exited and its output was read.
  child.on('close', (code) => {
    if (code !== 0) return fail(new Error(`true ended with ${code}`))
    ended += 1
    // Yields to the event loop: exits arrive as fast as they are handled and would starve other events.
    setImmediate(startNext)
  })
}

function fail(error) {
  console.error(error)
  process.exit(1)
}

for (let i = 0; i < concurrency; i++) startNext()
process.stdin.on('data', () =>
  console.log(JSON.stringify({ type: 'count', ended, held: held.length })),
)
process.stdin.on('end', () => process.exit(0))
