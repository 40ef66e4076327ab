import { ask, createEngine, ENGINES, type Engine, removalOf } from './engine.ts'
import { isGone, OWNER_LABEL } from './owner.ts'

const LEFTOVERS = ['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${OWNER_LABEL}`]
const NAME_AND_OWNER = `{{.Name}} {{index .Config.Labels "${OWNER_LABEL}"}}`

/**
 * The first engine that works here, or why the one that was asked for does not. To ask it for what
 * dead workers have left shows both whether it works and what there is to remove.
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

/** Removes containers whose worker was killed together with everybody who could have removed them. */
export async function removeLeftovers(
  engine: Engine,
  onError: (error: unknown) => void,
): Promise<void> {
  const ids = (await ask(engine, LEFTOVERS)).out.split('\n').filter((id) => id !== '')
  if (ids.length === 0) return
  const { out } = await ask(engine, ['inspect', '--format', NAME_AND_OWNER, ...ids])
  const dead = out.split('\n').flatMap((line) => {
    const [name = '', owner] = line.split(' ')
    return owner !== undefined && isGone(owner) ? [name.replace(/^\//, '')] : []
  })
  if (dead.length === 0) return
  const { ok, complaint } = await ask(engine, removalOf(engine, dead))
  if (!ok) onError(new Error(`containers of a dead worker could not be removed: ${complaint}`))
}
