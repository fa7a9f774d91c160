// What STIG Manager's own parser makes of papers: node stig_manager.mjs KIND=FILE ..., as JSON, a line each.
import { readFileSync } from "node:fs";
import * as parser from "../vendor/stig-manager/ReviewParser.js";

const read = { ckl: parser.reviewsFromCkl, cklb: parser.reviewsFromCklb, xccdf: parser.reviewsFromXccdf };
const settings = { required: "always", enabled: "always" };
const asked = {
  fieldSettings: { detail: settings, comment: settings },
  importOptions: {
    autoStatus: "submitted",
    unreviewed: "commented",
    unreviewedCommented: "informational",
    emptyDetail: "replace",
    emptyComment: "ignore",
  },
  allowAccept: true,
  scapBenchmarkMap: new Map(),
  sourceRef: "",
};
for (const word of process.argv.slice(2)) {
  const [kind, file] = word.split("=");
  let said;
  try {
    said = read[kind]({ ...asked, data: readFileSync(file, "utf8") });
  } catch (error) {
    said = { refused: error.message };
  }
  console.log(JSON.stringify(said));
}
