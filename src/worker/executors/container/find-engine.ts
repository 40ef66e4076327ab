import { ask, createEngine, ENGINES, type Engine, removalOf } from './engine.ts'
import { isGone, OWNER_LABEL } from './owner.ts'

const LEFTOVERS = ['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${OWNER_LABEL}`]
const NAME_AND_OWNER = `{{.Name}} {{index .Config.Labels "${OWNER_LABEL}"}}`

/**
 * The first engine that works here, or the reason why the requested one does not. Listing the
 * containers of dead workers shows both whether the engine works and what there is to remove.
 */
export async function findEngine(
  wanted: string | undefined,
  args: readonly string[] = [],
): Promise<Engine | { readonly missing: string }> {
  let missing = 'there is neither podman nor docker'
  for (const command of wanted === undefined ? ENGINES : [wanted]) {
    const engine = createEngine(command, args)
    const { ok, complaint } = await ask(engine, LEFTOVERS)
    if (ok) return engine
    missing = `${command} does not work here: ${complaint}`
  }
  return { missing }
}

/**
 * Removes containers whose worker was killed together with its janitor. Returns the error that
 * prevented it, if any.
 */
export async function removeLeftovers(
  engine: Engine,
  signal: AbortSignal,
): Promise<string | undefined> {
  const listed = await ask(engine, LEFTOVERS, signal)
  if (!listed.ok) return listed.complaint
  const ids = listed.out.split('\n').filter((id) => id !== '')
  if (ids.length === 0) return undefined
  const { ok, out, complaint } = await ask(
    engine,
    ['inspect', '--format', NAME_AND_OWNER, ...ids],
    signal,
  )
  const dead = out.split('\n').flatMap((line) => {
    const [name = '', owner] = line.split(' ')
    return owner !== undefined && isGone(owner) ? [name.replace(/^\//, '')] : []
  })
  const removal = dead.length === 0 ? undefined : await ask(engine, removalOf(engine, dead), signal)
  if (removal && !removal.ok) return removal.complaint
  // The engine complains of containers that disappeared meanwhile; the next listing does not
  // contain them.
  return ok ? undefined : complaint
}
