import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import type { WireNewToken, WireToken } from '../../core/wire/views.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import { readJson } from '../args/read-json.ts'
import { readFutureText } from '../args/read-when.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'

/** Commands `token` and `api`. */
export function tokenCommands(program: Command, cli: Cli): void {
  const { terminal } = cli
  const token = program.command('token').description('create, list and revoke tokens')

  token
    .command('create')
    .description('create a token; it is shown once')
    .argument('<name>', 'what it is for')
    .option('--role <role>', 'viewer, operator, admin or worker', 'operator')
    .option('--expires <time>', 'when it expires: 90d from now, 2027-01-31, or another time')
    .option('--everywhere', 'for every project')
    .action(async (name: string, options: CreateOptions, command: Command) => {
      const { role, expires, everywhere } = options
      const body = {
        name,
        role,
        ...(everywhere && { everywhere }),
        ...(expires === undefined
          ? {}
          : { expires_at: await readFutureText(expires, terminal, '--expires') }),
      }
      const made = await cli.calls(command).call<WireNewToken>('POST', '/v1/tokens', body)
      printOne(terminal, cli.format(command), made, {
        name: made.token,
        humanText: () => `${made.token}\n`,
      })
      if (cli.format(command) === 'table') {
        terminal.err(`${made.id}, role ${made.role}. It is not shown again.\n`)
      }
    })

  token
    .command('ls')
    .description('list tokens: of every project, or with --project of one')
    .action(async (_options: object, command: Command) => {
      const { project } = command.optsWithGlobals<{ project?: string }>()
      const data = await listTokens(cli.calls(command), project !== undefined)
      printList(terminal, cli.format(command), data, tokensOf(terminal))
    })

  token
    .command('revoke')
    .description('revoke a token, on all nodes within seconds')
    .argument('<id>', 'such as tok_3')
    .action(async (id: string, _options: object, command: Command) => {
      await cli.calls(command).call('DELETE', `/v1/tokens/${encodeURIComponent(id)}`)
      const humanText = () => `${id} is revoked\n`
      printOne(terminal, cli.format(command), { id, revoked: true }, { name: id, humanText })
    })

  program
    .command('api')
    .description('send a request to the API')
    .argument('<method>', 'GET, POST, PUT, PATCH or DELETE')
    .argument('<path>', 'such as /v1/runs')
    .option('-d, --body <json>', 'the body')
    .action(async (method: string, path: string, options: { body?: string }, command: Command) => {
      if (!path.startsWith('/')) {
        throw new Failure('a path starts with /', { exitCode: EXIT.usage })
      }
      const { body: text } = options
      const body = text === undefined ? undefined : readJson(text, 'the body', '-d')
      const answer = await cli.calls(command).call(method.toUpperCase(), path, body)
      if (answer !== undefined) terminal.out(`${JSON.stringify(answer, null, 2)}\n`)
    })
}

/** All tokens the caller may see: an admin of one project sees that project's. */
async function listTokens(calls: ServerCalls, isOfProject: boolean): Promise<WireToken[]> {
  const list = async (query: string) =>
    (await calls.call<{ data: WireToken[] }>('GET', `/v1/tokens${query}`)).data
  if (isOfProject) return list('')
  try {
    return await list('?everywhere=true')
  } catch (error) {
    if (error instanceof Failure && error.code === 'forbidden') return list('')
    throw error
  }
}

interface CreateOptions {
  readonly role: string
  readonly expires?: string
  readonly everywhere?: true
}

function tokensOf(terminal: Terminal): Show<WireToken> {
  return {
    nameOf: ({ id }) => id,
    empty: 'No tokens yet. Try: punctual token create ci --role operator',
    columns: [
      { title: 'ID', show: ({ id }) => id },
      { title: 'NAME', show: ({ name }) => harmless(name), shrinks: true, minWidth: 24 },
      { title: 'ROLE', show: ({ role }) => role },
      { title: 'PROJECT', show: ({ project }) => project ?? 'everywhere', shrinks: true },
      { title: 'ENDS', show: ({ ending }) => `…${ending}` },
      { title: 'CREATED', show: ({ created_at }) => created_at.slice(0, 10), dropOrder: 1 },
      { title: 'USED', show: ({ last_used_at }) => lastUse(last_used_at, terminal.now()) },
      { title: 'GOOD', show: ({ revoked_at, expires_at }) => tokenStatus(revoked_at, expires_at) },
    ],
  }
}

function lastUse(time: string | null, now: number): string {
  return time === null ? 'never' : `${formatDuration(Math.max(0, now - Date.parse(time)))} ago`
}

function tokenStatus(revokedAt: string | null, expiresAt: string | null): string {
  if (revokedAt !== null) return `revoked ${revokedAt.slice(0, 10)}`
  return expiresAt === null ? 'yes' : `until ${expiresAt.slice(0, 10)}`
}
