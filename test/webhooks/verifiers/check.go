// Reads cases as JSON from stdin and prints what the documented Go function says of each.
package main

import (
	"encoding/json"
	"os"
	"time"

	"check/webhook"
)

type testCase struct {
	Body   []byte  `json:"body"`
	Header string  `json:"header"`
	Secret string  `json:"secret"`
	Legacy bool    `json:"legacy"`
	NowS   float64 `json:"now_s"`
}

func main() {
	var cases []testCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	said := []bool{}
	for _, one := range cases {
		if one.Legacy {
			said = append(said, webhook.VerifyLegacy(one.Body, one.Header, one.Secret))
		} else {
			said = append(said, webhook.Verify(one.Body, one.Header, one.Secret, webhook.Tolerance, time.UnixMilli(int64(one.NowS*1000))))
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		panic(err)
	}
}
