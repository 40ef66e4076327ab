import { LIMITS } from '../../src/core/limits.ts'
import { type HostileRequest, jsonListOf, hostilePost } from './hostile-requests.ts'

const MB = 2 ** 20

/** Submits one run with an input of the maximum size, in many forms. */
export function hostileInputs(): HostileRequest[] {
  const input = (name: string, value: () => string, status = 201) =>
    hostilePost(`input: ${name}`, '/v1/runs', () => `{"job":"input","input":${value()}}`, status)
  const objects = (keys: number, bytes: number) => {
    const pairs = Array.from({ length: keys }, (_, index) => `"key-${index}":${index}`).join(',')
    return jsonListOf(`{${pairs}}`, Math.max(1, Math.floor(bytes / (pairs.length + 3))))
  }
  const nested = (levels: number, item: string) => '['.repeat(levels) + item + ']'.repeat(levels)
  return [
    input('8 MB of text', () => `"${'x'.repeat(8 * MB - 2)}"`),
    input('8 MB of text beyond ASCII', () => `"${'é'.repeat(4 * MB - 2)}"`),
    input('20 MB of \\u escapes', () => `"${'\\u00e9'.repeat(3.3 * MB)}"`),
    input('20 MB of \\n escapes, too large', () => `"${'\\n'.repeat(9.9 * MB)}"`, 422),
    input('4 million numbers', () => jsonListOf('0', 4 * MB - 2)),
    input('2.6 million empty objects', () => jsonListOf('{}', 2.66 * MB)),
    input('a million fractions', () => jsonListOf('0.12345', MB - 1)),
    input('16,384 keys, 30 times', () => objects(LIMITS.objectKeys, 8 * MB)),
    input('12 keys, 50,000 times', () => objects(12, 8 * MB)),
    input('lists in lists', () => jsonListOf(nested(28, '0'), 140_000)),
    input('20 MB of spaces', () => `[${' '.repeat(19 * MB)}0]`),
    input('20 MB of numbers, too large', () => jsonListOf('0', 9 * MB), 422),
    input('NUL at the end of 8 MB', () => `[${'"x",'.repeat(2 * MB)}"\\u0000"]`, 422),
    input('infinity at the end of 8 MB', () => `[${'1,'.repeat(4 * MB)}1e999]`, 422),
    input('an error at the end of 8 MB', () => `[${'1,'.repeat(4 * MB)}x]`, 400),
    input('a key of 8 MB', () => `{"${'k'.repeat(8 * MB - 64)}":1}`),
    {
      name: 'run with an input of 8 MB, shown',
      status: 200,
      async prepare(send) {
        const body = `{"job":"shown","input":${jsonListOf('0', 4 * MB - 2)}}`
        shown = (JSON.parse((await send('POST', '/v1/runs', body)).text) as { id: string }).id
      },
      send: (send) => send('GET', `/v1/runs/${shown}`),
    },
  ]
}

let shown = ''
