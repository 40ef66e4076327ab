import { spawn } from 'node:child_process'

// Node starting `true` over and over and nothing else; says when asked how many have ended. Plain
// JavaScript and no imports of ours: reading TypeScript leaves a larger process behind, and a larger
// process starts others more slowly.
const MB = 2 ** 20
const { concurrency, heldMb, isListening } = JSON.parse(process.argv[2])
const held = Array.from({ length: heldMb }, () => Buffer.alloc(MB, 1))
const output = isListening ? 'pipe' : 'ignore'
let ended = 0

function startNext() {
  const child = spawn('true', { stdio: ['ignore', output, output] })
  child.stdout?.resume()
  child.stderr?.resume()
  child.on('error', fail)
  // 'close' comes when it has exited and all it printed was read.
  child.on('close', (code) => {
    if (code !== 0) return fail(new Error(`true ended with ${code}`))
    ended += 1
    // In a later turn: exits come in as fast as they are handled, and nobody else would get one.
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
