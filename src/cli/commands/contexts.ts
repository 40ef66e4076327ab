import type { Command } from 'commander'
import { NAME } from '../../core/limits.ts'
import type { Cli } from './cli.ts'
import {
  type Context,
  contextOf,
  type Contexts,
  readContexts,
  writeContexts,
} from '../server/contexts.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { readServerUrls } from '../server/server-urls.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Commands `context ls`, `use`, `add` and `rm`: named servers in a file of this user. */
export function contextCommands(program: Command, cli: Cli): void {
  const context = program
    .command('context')
    .description('servers by name: list, choose, add, remove')
  listAndUseCommands(context, cli)
  addCommand(context, cli)
  removeCommand(context, cli)
}

function listAndUseCommands(context: Command, cli: Cli): void {
  const { terminal } = cli
  const { env } = terminal
  context
    .command('ls')
    .description('list contexts, without their tokens')
    .action((_options: object, command: Command) => {
      const rows = rowsOf(readContexts(env))
      printList(terminal, cli.format(command), rows, CONTEXTS)
    })

  context
    .command('use')
    .description('choose the current context, used when nothing more specific names a server')
    .argument('[name]', 'as `punctual context ls` shows it')
    .option('--none', 'choose no current context')
    .action((name: string | undefined, { none }: { none?: true }, command: Command) => {
      const { contexts } = readContexts(env)
      if ((name === undefined) === (none === undefined)) {
        throw usage('name a context, or pass --none', 'punctual context ls shows them.')
      }
      if (name !== undefined) contextOf({ contexts }, name)
      writeContexts(env, { current: name, contexts })
      const humanText = () =>
        name === undefined ? 'there is no current context\n' : `${name} is the current context\n`
      printOne(
        terminal,
        cli.format(command),
        { current: name ?? null },
        { name: name ?? '', humanText },
      )
    })
}

function addCommand(context: Command, cli: Cli): void {
  const { terminal } = cli
  const { env } = terminal
  context
    .command('add')
    .description('name a server; its token is stored with the name, readable by you alone')
    .argument('<name>', 'what to call it')
    .argument('<url>', 'its address; several nodes with commas between them')
    .option('--token-stdin', 'read the token from standard input')
    .action(async (name: string, url: string, options: AddOptions, command: Command) => {
      const stored = readContexts(env)
      checkName(name, stored)
      const server = readServerUrls([url]).join(',')
      const global = command.optsWithGlobals<{ token?: string; project?: string }>()
      const token = checkToken(await readToken(name, { ...options, token: global.token }, terminal))
      const { project } = global
      const added: Context = { server, ...(token && { token }), ...(project && { project }) }
      writeContexts(env, { ...stored, contexts: { ...stored.contexts, [name]: added } })
      const humanText = () =>
        `${name} is ${server}, ${token ? 'with its token' : 'without a token'}\n`
      printOne(terminal, cli.format(command), rowOf(name, added, stored.current), {
        name,
        humanText,
      })
      if (cli.format(command) === 'table') terminal.err(`  next:  punctual context use ${name}\n`)
    })
}

function removeCommand(context: Command, cli: Cli): void {
  const { terminal } = cli
  const { env } = terminal
  context
    .command('rm')
    .description('remove a context and its token')
    .argument('<name>', 'as `punctual context ls` shows it')
    .action((name: string, _options: object, command: Command) => {
      const { current, contexts } = readContexts(env)
      contextOf({ contexts }, name)
      const { [name]: _removed, ...rest } = contexts
      writeContexts(env, { current: current === name ? undefined : current, contexts: rest })
      const humanText = () => `${name} is removed\n`
      printOne(terminal, cli.format(command), { name, removed: true }, { name, humanText })
    })
}

interface AddOptions {
  readonly tokenStdin?: true
}

/** The row for programs: whether there is a token, never the token itself. */
interface Row {
  readonly name: string
  readonly server: string
  readonly project: string | null
  readonly has_token: boolean
  readonly current: boolean
}

const CONTEXTS: Show<Row> = {
  nameOf: ({ name }) => name,
  empty: 'No contexts yet. Try: punctual context add prod https://jobs.internal:7420',
  columns: [
    { title: 'CURRENT', show: ({ current }) => (current ? '*' : '') },
    { title: 'NAME', show: ({ name }) => name },
    { title: 'SERVER', show: ({ server }) => server, shrinks: true },
    { title: 'TOKEN', show: ({ has_token: hasToken }) => (hasToken ? 'yes' : 'none') },
    { title: 'PROJECT', show: ({ project }) => project ?? '' },
  ],
}

function rowsOf({ current, contexts }: Contexts): Row[] {
  return Object.entries(contexts).map(([name, context]) => rowOf(name, context, current))
}

function rowOf(
  name: string,
  { server, token, project }: Context,
  current: string | undefined,
): Row {
  const hasToken = token !== undefined
  return { name, server, project: project ?? null, has_token: hasToken, current: name === current }
}

function checkName(name: string, { contexts }: Contexts): void {
  if (!NAME.test(name)) {
    throw usage(`"${name}" is not a name`, 'Use letters, digits, ".", "_" and "-".')
  }
  if (!Object.hasOwn(contexts, name)) return
  throw new Failure(`there is a context "${name}" already`, {
    exitCode: EXIT.conflict,
    code: 'context_exists',
    hint: `Choose another name, or remove it first: punctual context rm ${name}`,
  })
}

/** Asks only at a terminal: otherwise standard input may never end. */
async function readToken(
  name: string,
  { token, tokenStdin }: AddOptions & { token: string | undefined },
  terminal: Terminal,
): Promise<string | undefined> {
  const given = token || terminal.env['PUNCTUAL_TOKEN'] || undefined
  if (!tokenStdin && (given !== undefined || !terminal.isInteractive)) return given
  return (await terminal.readSecret(`Token of ${name} (none if empty): `))?.trim() || undefined
}

function checkToken(token: string | undefined): string | undefined {
  if (token === undefined || /^[!-~]+$/.test(token)) return token
  throw usage('the token has spaces, lines or letters that no token has', 'Copy it again.')
}

function usage(message: string, hint: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage, hint })
}
