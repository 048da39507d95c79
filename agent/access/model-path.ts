// The path of the file in which a router keeps the data model (model-file.ts). A file of its own, because checks of the
// configuration need the path without the code of the data model.

/** The key `edge.db` of the configuration `file`, or the reference's default. */
export function modelFilePath({ edge, file }: { edge?: { db?: string } | undefined; file: string }): string {
  return edge?.db ?? `${file}.proto.gzip`;
}
