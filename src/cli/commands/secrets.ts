import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import type { WirePage, WireRotation, WireSecret } from '../../core/wire/views.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { addKey } from '../files/key-file.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import type { Terminal } from '../terminal/terminal.ts'

/**
 * Commands `secret set`, `ls`, `rm`, `rotate-key` and `new-key`. A value is never an argument,
 * which `ps` would show.
 */
export function secretCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  const secret = program.command('secret').description('set, list and remove secrets')
  const pathOf = (name: string) => `/v1/secrets/${encodeURIComponent(name)}`

  secret
    .command('set')
    .description('set a secret: asks for it, or reads it from standard input')
    .argument('<name>', 'as a variable is called, such as PGPASSWORD')
    .action(async (name: string, _options: object, command: Command) => {
      const value = await readValue(name, terminal)
      const made = await cli.calls(command).call<WireSecret>('PUT', pathOf(name), { value })
      const humanText = () => `${made.name} is set (version ${made.version})\n`
      printOne(terminal, cli.format(command), made, { name: made.name, humanText })
    })

  secret
    .command('ls')
    .description('list secrets, without their values')
    .action(async (_options: object, command: Command) => {
      printList(terminal, cli.format(command), await all(cli.calls(command)), secretsOf(terminal))
    })

  secret
    .command('rm')
    .description('remove a secret')
    .argument('<name>', 'its name')
    .action(async (name: string, _options: object, command: Command) => {
      await cli.calls(command).call('DELETE', pathOf(name))
      const humanText = () => `${name} is removed\n`
      printOne(terminal, cli.format(command), { name, removed: true }, { name, humanText })
    })

  secret
    .command('new-key')
    .description('write a new key to the top of a key file, which is created if necessary')
    .argument('<file>', 'such as .punctual/secret-key')
    .action((file: string, _options: object, command: Command) => {
      const id = addKey(file, randomBytes)
      const humanText = () => `${id} is the first key of ${file}\n`
      printOne(terminal, cli.format(command), { id, file }, { name: id, humanText })
      if (cli.format(command) !== 'table') return
      terminal.err('  next:  copy the file to every node, then: punctual secret rotate-key\n')
    })

  secret
    .command('rotate-key')
    .description('encrypt all secrets again, with the first key of the key file')
    .action(async (_options: object, command: Command) => {
      const calls = cli.calls(command)
      const done = await calls.call<WireRotation>('POST', '/v1/secret-keys/rotate', {})
      printOne(terminal, cli.format(command), done, {
        name: done.key,
        humanText: () => reportKeyRotation(done),
      })
      if (done.broken.length > 0) cli.exitWith(EXIT.unexpected)
    })
}

/** Removes the newline that the shell adds; a file of several lines is taken as it is. */
async function readValue(name: string, terminal: Terminal): Promise<string> {
  const text = await terminal.readSecret(`value of ${name} (not shown): `)
  if (text === undefined) {
    throw new Failure('nothing was set', { exitCode: EXIT.interrupted })
  }
  const [line = '', ...more] = text.split(/\r?\n/)
  return more.join('') === '' && more.length < 2 ? line : text
}

/** Reads all pages. */
async function all(calls: ServerCalls): Promise<WireSecret[]> {
  const found: WireSecret[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = cursor === '' ? '?limit=500' : `?limit=500&cursor=${cursor}`
    const page = await calls.call<WirePage<WireSecret>>('GET', `/v1/secrets${query}`)
    found.push(...page.data)
    cursor = page.next_cursor
  }
  return found
}

function secretsOf(terminal: Terminal): Show<WireSecret> {
  const age = (time: string) => formatDuration(Math.max(0, terminal.now() - Date.parse(time)))
  return {
    nameOf: ({ name }) => name,
    empty: 'No secrets yet. Try: punctual secret set PGPASSWORD',
    columns: [
      { title: 'NAME', show: ({ name }) => name, shrinks: true },
      { title: 'VERSION', show: ({ version }) => String(version) },
      { title: 'SET', show: ({ updated_at }) => `${age(updated_at)} ago` },
      { title: 'BY', show: ({ updated_by }) => updated_by },
      { title: 'KEY', show: ({ key }) => key },
    ],
  }
}

function reportKeyRotation({ key, resealed, broken, keys }: WireRotation): string {
  const others = keys.filter(({ id }) => id !== key)
  const left = others.map(({ id, secrets }) => `the key ${id} still seals ${secrets}`)
  const lines = [
    `${resealed} ${resealed === 1 ? 'secret is' : 'secrets are'} sealed anew, with the key ${key}`,
    ...broken.map((name) => `${name} cannot be opened, and is as it was`),
    ...(left.length > 0 ? left : ['no other key is needed any more']),
  ]
  return lines.map((line) => `${line}\n`).join('')
}
