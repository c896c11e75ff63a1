break case char continue do else float for if int long return sizeof struct void while
