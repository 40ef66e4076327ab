import type { Command } from 'commander'
import { formatDuration } from '../../core/text/duration.ts'
import type { WirePage } from '../../core/wire/views.ts'
import type {
  WireDeliveryDetail,
  WireDelivery,
  WireNewWebhook,
  WireWebhook,
} from '../../core/webhook/webhook-views.ts'
import { WEBHOOK_EVENTS } from '../../core/webhook/webhook.ts'
import type { Cli } from './cli.ts'
import { EXIT } from '../errors/exit-codes.ts'
import { printList, printOne, type Show } from '../terminal/output.ts'
import type { ServerCalls } from '../server/server-calls.ts'
import { harmless, type Terminal } from '../terminal/terminal.ts'

interface AddOptions {
  readonly event?: string[]
  readonly job?: string[]
  readonly disabled?: true
  readonly replace?: true
}

const NAME = 'what it is called'
/** A delivery attempt takes at most ten seconds, and starts within one. */
const PATIENCE_MS = 20_000
const LOOK_MS = 250

/** Command `webhook`: notifications about runs, and their deliveries. */
export function webhookCommands(program: Command, cli: Cli): void {
  const webhook = program
    .command('webhook')
    .description('notify other programs when runs fail and when they recover')
  addCommand(webhook, cli)
  listAndShowCommands(webhook, cli)
  testCommand(webhook, cli)
  rotateAndRemoveCommands(webhook, cli)
  deliveryCommands(webhook, cli)
}

function addCommand(webhook: Command, cli: Cli): void {
  const repeat = (value: string, before: string[] = []) => [...before, value]
  webhook
    .command('add')
    .description('create a webhook; its secret is shown once')
    .argument('<name>', 'what to call it')
    .argument('<url>', 'where to send messages to')
    .option('--event <event>', `${WEBHOOK_EVENTS.join(', ')}; may be repeated`, repeat)
    .option('--job <name>', 'only for this job, * matches any text; may be repeated', repeat)
    .option('--disabled', 'send nothing for now')
    .option('--replace', 'change the webhook if it exists')
    .action(async (name: string, url: string, options: AddOptions, command: Command) => {
      const { event = ['run.failed', 'run.recovered'], job, disabled, replace } = options
      const body = {
        url,
        events: event,
        ...(job && { jobs: job }),
        ...(disabled && { enabled: false }),
      }
      const calls = cli.calls(command)
      const made = replace
        ? await calls.call<WireWebhook | WireNewWebhook>('PUT', pathOf(name), body)
        : await calls.call<WireNewWebhook>('POST', '/v1/webhooks', { name, ...body })
      printSecret(cli, command, made)
    })
}

function listAndShowCommands(webhook: Command, cli: Cli): void {
  const { terminal } = cli
  webhook
    .command('ls')
    .description('list webhooks')
    .action(async (_options: object, command: Command) => {
      const { data } = await cli.calls(command).call<{ data: WireWebhook[] }>('GET', '/v1/webhooks')
      printList(terminal, cli.format(command), data, webhooksOf(terminal))
    })

  webhook
    .command('show')
    .description('show a webhook')
    .argument('<name>', NAME)
    .action(async (name: string, _options: object, command: Command) => {
      const shown = await cli.calls(command).call<WireWebhook>('GET', pathOf(name))
      printOne(terminal, cli.format(command), shown, { name, humanText: () => describe(shown) })
    })
}

function testCommand(webhook: Command, cli: Cli): void {
  webhook
    .command('test')
    .description('send a test message, and wait for the answer')
    .argument('<name>', NAME)
    .action(async (name: string, _options: object, command: Command) => {
      const calls = cli.calls(command)
      const { id } = await calls.call<WireDelivery>('POST', `${pathOf(name)}/test`)
      await reportOutcome(cli, command, name, id)
    })
}

function rotateAndRemoveCommands(webhook: Command, cli: Cli): void {
  const { terminal } = cli
  webhook
    .command('rotate')
    .description('create a new secret; the old one stays valid for a while')
    .argument('<name>', NAME)
    .option('--keep <duration>', 'how long the old one stays valid; a day if absent')
    .action(async (name: string, options: { keep?: string }, command: Command) => {
      const path = `${pathOf(name)}/rotate`
      const made = await cli.calls(command).call<WireNewWebhook>('POST', path, { ...options })
      printSecret(cli, command, made)
    })

  webhook
    .command('rm')
    .description('delete a webhook and its deliveries')
    .argument('<name>', NAME)
    .action(async (name: string, _options: object, command: Command) => {
      await cli.calls(command).call('DELETE', pathOf(name))
      const humanText = () => `the webhook ${name} is deleted\n`
      printOne(terminal, cli.format(command), { name, deleted: true }, { name, humanText })
    })
}

function deliveryCommands(webhook: Command, cli: Cli): void {
  const { terminal } = cli
  webhook
    .command('deliveries')
    .description('list its deliveries and their outcomes, newest first')
    .argument('<name>', NAME)
    .option('-n, --limit <count>', 'how many to show', '20')
    .action(async (name: string, { limit }: { limit: string }, command: Command) => {
      const path = `${pathOf(name)}/deliveries?limit=${encodeURIComponent(limit)}`
      const { data } = await cli.calls(command).call<WirePage<WireDelivery>>('GET', path)
      printList(terminal, cli.format(command), data, deliveriesOf(terminal))
    })

  webhook
    .command('redeliver')
    .description('send a message again, and wait for the answer')
    .argument('<name>', NAME)
    .argument('<delivery>', 'such as dlv_00f3k9m2q7x')
    .action(async (name: string, id: string, _options: object, command: Command) => {
      await cli.calls(command).call('POST', `${deliveryPath(name, id)}/redeliver`)
      await reportOutcome(cli, command, name, id)
    })
}

function pathOf(name: string): string {
  return `/v1/webhooks/${encodeURIComponent(name)}`
}

function deliveryPath(name: string, id: string): string {
  return `${pathOf(name)}/deliveries/${encodeURIComponent(id)}`
}

/** Prints the secret alone, so that it can be piped to its destination. */
function printSecret(cli: Cli, command: Command, made: WireWebhook | WireNewWebhook): void {
  const { terminal } = cli
  const format = cli.format(command)
  const { name } = made
  if (!('secret' in made)) {
    return printOne(terminal, format, made, { name, humanText: () => `${name} is changed\n` })
  }
  printOne(terminal, format, made, { name: made.secret, humanText: () => `${made.secret}\n` })
  if (format === 'table') terminal.err(`${name} signs with this secret. It is not shown again.\n`)
}

/** Waits for the first delivery attempt and reports its outcome, also as the exit code. */
async function reportOutcome(cli: Cli, command: Command, name: string, id: string): Promise<void> {
  const { terminal } = cli
  const { body: _, ...outcome } = await waitForDelivery(cli.calls(command), terminal, name, id)
  const { state, status, error, next_attempt_at: next } = outcome
  const again = next === null ? '' : `; next try ${next}`
  const what =
    state === 'delivered' ? `it answered ${status}` : `${error ?? 'no answer yet'}${again}`
  printOne(terminal, cli.format(command), outcome, {
    name: id,
    humanText: () => `${id} ${state}: ${harmless(what)}\n`,
  })
  if (state !== 'delivered') cli.exitWith(EXIT.unexpected)
}

async function waitForDelivery(
  calls: ServerCalls,
  terminal: Terminal,
  name: string,
  id: string,
): Promise<WireDeliveryDetail> {
  const untilMono = terminal.mono() + PATIENCE_MS
  for (;;) {
    const seen = await calls.call<WireDeliveryDetail>('GET', deliveryPath(name, id))
    // An attempt in flight has no duration yet.
    const isTried = seen.attempts > 0 && seen.took_ms !== null
    if (seen.state !== 'pending' || isTried || terminal.mono() > untilMono) return seen
    await terminal.sleep(LOOK_MS)
  }
}

function describe(shown: WireWebhook): string {
  const { jobs, failing_since: failing, previous_secret_until: until } = shown
  const lines: [string, string][] = [
    ['url', harmless(shown.url)],
    ['events', shown.events.join(', ')],
    ['jobs', jobs === null ? 'all' : jobs.join(', ')],
    ['state', stateOf(shown)],
    [
      'secret',
      `…${shown.secret_ending}${until === null ? '' : ` and the one before until ${until}`}`,
    ],
    ...(failing === null ? [] : [['failing', `since ${failing}`] as [string, string]]),
  ]
  return `${shown.name}\n${lines.map(([label, text]) => `  ${label.padEnd(8)}${text}\n`).join('')}`
}

function stateOf({
  enabled,
  disabled_reason: reason,
  failing_since: failing,
}: WireWebhook): string {
  if (!enabled) return reason === null ? 'disabled' : `disabled: ${harmless(reason)}`
  return failing === null ? 'enabled' : 'failing'
}

function webhooksOf(terminal: Terminal): Show<WireWebhook> {
  return {
    nameOf: ({ name }) => name,
    empty: 'No webhooks yet. Try: punctual webhook add pager https://example.com/hook',
    columns: [
      { title: 'NAME', show: ({ name }) => name },
      { title: 'STATE', show: stateOf, shrinks: true },
      { title: 'EVENTS', show: ({ events }) => events.join(','), shrinks: true },
      { title: 'JOBS', show: ({ jobs }) => jobs?.join(',') ?? 'all', shrinks: true },
      { title: 'URL', show: ({ url }) => harmless(url), shrinks: true },
      { title: 'CHANGED', show: ({ updated_at }) => ago(updated_at, terminal.now()) },
    ],
  }
}

function deliveriesOf(terminal: Terminal): Show<WireDelivery> {
  return {
    nameOf: ({ id }) => id,
    empty: 'Nothing was sent yet. Try: punctual webhook test <name>',
    columns: [
      { title: 'ID', show: ({ id }) => id },
      { title: 'EVENT', show: ({ event }) => event },
      { title: 'RUN', show: ({ run }) => run ?? '-' },
      { title: 'STATE', show: ({ state }) => state },
      { title: 'TRIES', show: ({ attempts }) => String(attempts) },
      { title: 'STATUS', show: ({ status }) => String(status ?? '-') },
      { title: 'CREATED', show: ({ created_at }) => ago(created_at, terminal.now()) },
      { title: 'ERROR', show: ({ error }) => harmless(error ?? ''), shrinks: true },
    ],
  }
}

function ago(time: string, now: number): string {
  return `${formatDuration(Math.max(0, now - Date.parse(time)))} ago`
}
