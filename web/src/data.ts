/** Where the page's document comes from: gzipped JSON inside the file, or the server that sent the page. */

async function unzipped(bytes: Uint8Array<ArrayBuffer>): Promise<any> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The document of this page. */
export async function readDocument(): Promise<any> {
  const holder = document.getElementById("document");
  if (holder === null) throw new Error("this page carries no document");
  const address = holder.getAttribute("data-from");
  if (address === null) return unzipped(fromBase64((holder.textContent ?? "").trim()));
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return unzipped(new Uint8Array(await answer.arrayBuffer()));
}
