import type { WireWhy } from '../../src/core/wire/views.ts'

/** Asks a server why a run is in its state, as `punctual why` does. */
export async function askWhy(
  url: string,
  { token, project = 'default' }: { token: string; project?: string },
  run: string,
): Promise<WireWhy> {
  const headers = { authorization: `Bearer ${token}`, 'punctual-project': project }
  const answer = await fetch(`${url}/v1/runs/${run}/why`, { headers })
  if (!answer.ok) throw new Error(`why ${run}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as WireWhy
}
